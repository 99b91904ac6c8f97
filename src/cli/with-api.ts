import type { ReadyCall } from "./call.ts";
import { giveUp } from "./call.ts";
import { openApi } from "./client.ts";
import { exitCodes } from "./usage.ts";

/** Reading everything there is may take longer than one answer usually does. */
const answerMs = 600_000;

/**
 * Does something with the Aperture that runs, or, where none does, with one that serves nobody else and ends
 * with the work. What is stored belongs to its user whether a proxy runs or not.
 */
export async function withApi(
  call: ReadyCall,
  verb: string,
  work: (call: ReadyCall) => Promise<number>,
): Promise<number> {
  const ready = await call.api.text("/readyz");
  if (ready.ok) return await work({ ...call, api: openApi(call.settings, answerMs) });
  if (ready.problem.exit !== exitCodes.stopped) return giveUp(call, ready.problem);
  const { startApp } = await import("./app.ts");
  // Any free port of this machine: the configured one may be wanted by somebody else meanwhile.
  const settings = { ...call.settings, host: "127.0.0.1", port: 0, isRemote: false };
  const note = (line: string) => call.screen.err(line);
  const app = await startApp({ settings, version: call.version, note, verb }).catch((error: unknown) =>
    error instanceof Error && "code" in error ? error.message : Promise.reject(error),
  );
  if (typeof app === "string") return giveUp(call, { exit: exitCodes.failed, message: app });
  try {
    const { port } = new URL(app.url);
    const place = { ...settings, port: Number(port), token: app.token };
    return await work({ ...call, api: openApi(place, answerMs) });
  } finally {
    await app.close();
  }
}
