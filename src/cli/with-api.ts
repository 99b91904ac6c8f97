import { openApi } from "./api/api-client.ts";
import { exitCodes } from "./exit-codes.ts";
import { type ReadyCall, reportProblem } from "./verb-call.ts";

/** Reading a whole store takes longer than a usual answer. */
const answerMs = 600_000;

/**
 * Runs the work against the running Aperture. If none runs, it starts one for this work alone: stored data is
 * available to its user whether a proxy runs or not.
 */
export async function withApi(
  call: ReadyCall,
  verb: string,
  work: (call: ReadyCall) => Promise<number>,
): Promise<number> {
  const ready = await call.api.text("/readyz");
  if (ready.ok) return await work({ ...call, api: openApi(call.settings, answerMs) });
  if (ready.problem.exit !== exitCodes.stopped) return reportProblem(call, ready.problem);
  const { startApp } = await import("./app/app.ts");
  // Any free loopback port: another program may take the configured one in the meantime.
  const settings = { ...call.settings, host: "127.0.0.1", port: 0, isRemote: false };
  const notify = (line: string) => call.screen.err(line);
  const app = await startApp({ settings, version: call.version, notify, verb }).catch((error: unknown) =>
    error instanceof Error && "code" in error ? error.message : Promise.reject(error),
  );
  if (typeof app === "string") return reportProblem(call, { exit: exitCodes.failed, message: app });
  try {
    const location = { ...settings, port: Number(new URL(app.url).port), token: app.token };
    return await work({ ...call, api: openApi(location, answerMs) });
  } finally {
    await app.close();
  }
}
