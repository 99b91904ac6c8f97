import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Settings } from "../../config/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { pluralText } from "../format/number-text.ts";
import { loadSettings } from "../load-settings.ts";
import { DataInUse, type RunningApp, startApp } from "./app.ts";
import { loginLink } from "./login-link.ts";

/** The output as a value, so that tests can read it. */
export type UpOutput = { readonly out: (line: string) => void; readonly err: (line: string) => void };

/** Starts Aperture and runs until a signal stops it. Returns the exit code. */
export async function up(version: string, output: UpOutput): Promise<number> {
  const read = loadSettings({ env: process.env, home: homedir() });
  if (!read.ok) {
    for (const problem of read.problems) output.err(problem);
    return exitCodes.usage;
  }
  const { settings } = read;
  const starting = startApp({ settings, version, notify: output.err });
  const app = await starting.catch((error: unknown) => startProblem(error, settings));
  if (typeof app === "string") {
    output.err(app);
    return exitCodes.failed;
  }
  await printStartup(app, { settings, version, output });
  await waitForStopSignal();
  const { active } = app.proxy.metrics();
  if (active > 0) output.err(`finishing ${pluralText(active, "open request")}; Ctrl-C again stops at once`);
  process.once("SIGINT", () => process.exit(exitCodes.failed));
  await app.close();
  output.out("stopped");
  return exitCodes.ok;
}

type StartupFacts = { readonly settings: Settings; readonly version: string; readonly output: UpOutput };

async function printStartup(app: RunningApp, { settings, version, output }: StartupFacts): Promise<void> {
  output.out(`data directory: ${resolve(settings.dataDir)}`);
  output.out(
    `token: ${app.tokenFile ?? (settings.token === undefined ? "in memory only" : "from APERTURE_TOKEN")}`,
  );
  if (settings.isRemote) output.err("reachable from other machines: clients must send x-aperture-token");
  output.out(`clients: ANTHROPIC_BASE_URL=${app.url}`);
  output.out(`panel: ${await panelText(app)}`);
  output.out("Ctrl-C stops Aperture");
  // This line comes last, because a program that waits for it may then rely on all lines before it.
  output.out(`Aperture ${version} listening on ${app.url}`);
}

/** Only a terminal gets a login link, because a link in a file would stay there. */
async function panelText(app: RunningApp): Promise<string> {
  if (process.stdout.isTTY !== true) return `${app.url} (\`aperture open\` logs your browser in)`;
  return `${await loginLink(app)}  (for one browser, within a minute; later: aperture open)`;
}

/** Explains known failures of `listen`. An unknown one is a bug and keeps its stack. */
function startProblem(error: unknown, { host, port }: Settings): string {
  if (error instanceof DataInUse) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `Port ${port} is in use by another Aperture or another program. Set APERTURE_PORT to a free port.`;
  }
  if (code === "EACCES") {
    return `This user may not listen on port ${port}. Set APERTURE_PORT to a port above 1023.`;
  }
  if (code === "EADDRNOTAVAIL") return `This machine has no address ${host}. Set APERTURE_HOST to 127.0.0.1.`;
  throw error;
}

function waitForStopSignal(): Promise<void> {
  return new Promise((done) => {
    process.once("SIGINT", () => done());
    // Stays registered: a second SIGTERM must not cut off open requests.
    process.on("SIGTERM", () => done());
  });
}
