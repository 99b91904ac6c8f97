import { homedir } from "node:os";
import { resolve } from "node:path";
import type { Settings } from "../config/index.ts";
import { DataInUse, type RunningApp, startApp } from "./app.ts";
import { loadSettings } from "./load-settings.ts";
import { loginLink } from "./login-link.ts";
import { exitCodes } from "./usage.ts";

/** Where the command line may write; a value, so that a test can read along. */
export type Output = { readonly out: (line: string) => void; readonly err: (line: string) => void };

/** Starts Aperture and stays until a signal asks it to end. Answers with the exit code. */
export async function up(version: string, output: Output): Promise<number> {
  const read = loadSettings({ env: process.env, home: homedir() });
  if (!read.ok) {
    for (const problem of read.problems) output.err(problem);
    return exitCodes.usage;
  }
  const { settings } = read;
  const starting = startApp({ settings, version, note: output.err });
  const app = await starting.catch((error: unknown) => explain(error, settings));
  if (typeof app === "string") {
    output.err(app);
    return exitCodes.failed;
  }
  await announce(app, { settings, version, output });
  await stopSignal();
  const { active } = app.proxy.metrics();
  if (active > 0) output.err(`finishing ${active} in flight; Ctrl-C again ends it at once`);
  process.once("SIGINT", () => process.exit(exitCodes.failed));
  await app.close();
  output.out("stopped");
  return exitCodes.ok;
}

type Announced = { readonly settings: Settings; readonly version: string; readonly output: Output };

async function announce(app: RunningApp, { settings, version, output }: Announced): Promise<void> {
  output.out(`data directory: ${resolve(settings.dataDir)}`);
  output.out(
    `token: ${app.tokenFile ?? (settings.token === undefined ? "not kept" : "from APERTURE_TOKEN")}`,
  );
  if (settings.isRemote) output.err(`reachable from other machines: clients send x-aperture-token`);
  output.out(`clients: ANTHROPIC_BASE_URL=${app.url}`);
  output.out(`panel: ${await panelText(app)}`);
  output.out("Ctrl-C stops it");
  // Last, because whoever waits for this line may look at once at everything before it.
  output.out(`Aperture ${version} listening on ${app.url}`);
}

/** Only somebody who looks is given a way in: what is written to a file stays there. */
async function panelText(app: RunningApp): Promise<string> {
  if (process.stdout.isTTY !== true) return `${app.url}, after \`aperture open\` has logged your browser in`;
  return `${await loginLink(app)}  (one browser, within a minute; later: aperture open)`;
}

/** Known failures of `listen` become a sentence; an unknown one is a bug and keeps its stack. */
function explain(error: unknown, { host, port }: Settings): string {
  if (error instanceof DataInUse) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EADDRINUSE") {
    return `Port ${port} is in use, by another Aperture or another program. Set APERTURE_PORT to a free port and start again.`;
  }
  if (code === "EACCES") {
    return `Port ${port} needs rights that this user does not have. Set APERTURE_PORT to a port above 1023.`;
  }
  if (code === "EADDRNOTAVAIL") return `This machine has no address ${host}. Set APERTURE_HOST to 127.0.0.1.`;
  throw error;
}

function stopSignal(): Promise<void> {
  return new Promise((done) => {
    process.once("SIGINT", () => done());
    // Kept for good: a second one must not cut off what is still in flight.
    process.on("SIGTERM", () => done());
  });
}
