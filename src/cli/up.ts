import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { readSettings, type Settings } from "../config/index.ts";
import { openSqliteStore, type Store } from "../store/index.ts";
import { type RunningServer, startServer } from "./server.ts";
import { exitCodes } from "./usage.ts";

/** Where the command line may write; a value, so that a test can read along. */
export type Output = { readonly out: (line: string) => void; readonly err: (line: string) => void };

/** Starts Aperture and stays until a signal asks it to end. Answers with the exit code. */
export async function up(version: string, output: Output): Promise<number> {
  const read = readSettings(process.env, homedir());
  if (!read.ok) {
    for (const problem of read.problems) output.err(problem);
    return exitCodes.usage;
  }
  const { settings } = read;
  const dataDir = resolve(settings.dataDir);
  const store = openSqliteStore({ path: join(dataDir, "aperture.db") });
  store.watch(({ storage, message }) =>
    output.err(`storage ${storage}${message === null ? "" : `: ${message}`}`),
  );
  const server = await start({ settings, version, store }).catch((error: unknown) =>
    explain(error, settings),
  );
  if (typeof server === "string") {
    output.err(server);
    await store.close();
    return exitCodes.failed;
  }
  output.out(`data directory: ${dataDir}`);
  output.out("Ctrl-C stops it");
  // Last, because whoever waits for this line may look at once at everything before it.
  output.out(`Aperture ${version} listening on ${server.url}`);
  await stopSignal();
  await server.close();
  await store.close();
  output.out("stopped");
  return exitCodes.ok;
}

type Starting = { readonly settings: Settings; readonly version: string; readonly store: Store };

function start({ settings: { host, port }, version, store }: Starting): Promise<RunningServer> {
  const storage = () => {
    const { storage: state, message } = store.status();
    return { storage: state, message };
  };
  return startServer({ host, port, version, storage });
}

/** Known failures of `listen` become a sentence; an unknown one is a bug and keeps its stack. */
function explain(error: unknown, { host, port }: Settings): string {
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
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => done());
  });
}
