import { fail, limits, ok, type Result } from "../../base/index.ts";
import type { Settings } from "../../config/index.ts";
import type { ExportWish } from "../../control/index.ts";
import { entryOf, inTurn } from "../own-thread.ts";

export type ExportWork = ExportWish & {
  readonly place: Pick<Settings, "host" | "port" | "dataDir" | "token">;
  readonly version: string;
};
export type Made =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

const question = "export";
/** To look through everything a session holds. */
const msMax = 600_000;

/** Writes sessions for browsers, one after the other. */
export function exporterFor(work: () => Omit<ExportWork, keyof ExportWish>) {
  const exported = inTurn<Made>({
    entry: entryOf("export/worker.js"),
    question,
    msMax,
    heapBytesMax: limits.exportHeapBytesMax,
  });
  return async (wish: ExportWish): Promise<Result<Uint8Array>> => {
    const made = await exported({ ...work(), ...wish } satisfies ExportWork);
    if (!made.ok) return made;
    const { value } = made;
    return value.ok ? ok(value.bytes) : fail("AP_CONTROL_FAULT", { problem: value.problem, question });
  };
}
