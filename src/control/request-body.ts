import type { IncomingMessage } from "node:http";
import { fail, limits, ok, type Result } from "../base/index.ts";

/** The time a caller has to send its whole body. */
const arrivalMs = 10_000;

/** Reads and parses a JSON body. The limit is small: no route takes more than a list of numbers. */
export async function readJsonBody(request: IncomingMessage): Promise<Result<unknown>> {
  const bytes = await readBodyBytes(request, limits.writtenBytesMax);
  if (!bytes.ok) return bytes;
  try {
    return ok(JSON.parse(bytes.value.toString("utf8")) as unknown);
  } catch {
    return fail("AP_INPUT_INVALID", { problem: "it is not JSON" });
  }
}

export function readBodyBytes(request: IncomingMessage, limit: number): Promise<Result<Buffer>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (result: Result<Buffer>): void => {
      clearTimeout(timer);
      request.off("data", collect);
      resolve(result);
    };
    const collect = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) end(fail("AP_BODY_TOO_LARGE", { limit }));
      else chunks.push(chunk);
    };
    const failIncomplete = (): void => end(fail("AP_INPUT_INVALID", { problem: "it did not arrive whole" }));
    const timer = setTimeout(failIncomplete, arrivalMs);
    request.on("data", collect);
    request.once("end", () => end(ok(Buffer.concat(chunks))));
    request.once("close", failIncomplete);
    request.once("error", failIncomplete);
  });
}
