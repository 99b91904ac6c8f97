import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type AgentFolders = {
  /** Where the client keeps its settings and transcripts. */
  readonly home: string;
  /** The folder it works in. */
  readonly project: string;
  readonly remove: () => void;
};

/** A home and a project of its own, so that neither a user's settings nor an earlier run can matter. */
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

/** Whatever is not for this machine goes to a proxy that is not there. */
export const nowhere = {
  HTTPS_PROXY: "http://127.0.0.1:9",
  NO_PROXY: "127.0.0.1,localhost",
};

/** Made from nothing: a setting of whoever runs the tests must not reach the client. */
export function bareEnvironment(home: string): Readonly<Record<string, string | undefined>> {
  return { PATH: process.env["PATH"], HOME: home, USERPROFILE: home };
}

/** The texts of all files below a folder. */
export function writtenBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "utf8")).join("\n");
}
