import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type AgentFolders = {
  /** The folder of the client's settings and transcripts. */
  readonly home: string;
  /** The folder it works in. */
  readonly project: string;
  readonly remove: () => void;
};

/** Makes a fresh home and project, so that neither a user's settings nor an earlier run can matter. */
export function makeFolders(): AgentFolders {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "aperture-client-")));
  const home = join(folder, "home");
  const project = join(folder, "project");
  mkdirSync(home);
  mkdirSync(project);
  return {
    home,
    project,
    remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Requests to other machines go to a proxy that does not exist. */
export const noNetwork = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
};

/** An empty environment: settings of the developer must not reach the client. */
export function bareEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  return { PATH: process.env["PATH"], HOME: home, USERPROFILE: home };
}

/** The texts of all files below a folder. */
export function textsBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
}
