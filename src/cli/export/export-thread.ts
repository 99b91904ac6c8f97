import { fail, limits, ok, type Result } from "../../base/index.ts";
import type { Settings } from "../../config/index.ts";
import type { ExportRequest } from "../../control/index.ts";
import { createJobQueue, workerEntry } from "../job-queue.ts";

export type ExportJob = ExportRequest & {
  readonly location: Pick<Settings, "host" | "port" | "dataDir" | "token">;
  readonly version: string;
};
export type ExportJobResult =
  | { readonly ok: true; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly ok: false; readonly problem: string };

const question = "export";
/** Enough to mask everything in a large session. */
const msMax = 600_000;

/** Exports sessions for browsers, one after the other. */
export function createExporter(commonFields: () => Omit<ExportJob, keyof ExportRequest>) {
  const run = createJobQueue<ExportJobResult>({
    entry: workerEntry("export/export-worker.js"),
    question,
    msMax,
    heapBytesMax: limits.exportHeapBytesMax,
  });
  return async (request: ExportRequest): Promise<Result<Uint8Array>> => {
    const result = await run({ ...commonFields(), ...request } satisfies ExportJob);
    if (!result.ok) return result;
    const { value } = result;
    return value.ok ? ok(value.bytes) : fail("AP_CONTROL_FAULT", { problem: value.problem, question });
  };
}
