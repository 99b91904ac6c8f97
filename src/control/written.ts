import type { IncomingMessage } from "node:http";
import { fail, limits, ok, type Result } from "../base/index.ts";

/** A caller that says it sends something and does not is not waited for any longer. */
const arrivalMs = 10_000;

/** What a caller sent along, parsed. Small by rule: nothing here takes more than a list of numbers. */
export async function writtenJson(request: IncomingMessage): Promise<Result<unknown>> {
  const bytes = await writtenBytes(request, limits.writtenBytesMax);
  if (!bytes.ok) return bytes;
  try {
    return ok(JSON.parse(bytes.value.toString("utf8")) as unknown);
  } catch {
    return fail("AP_INPUT_INVALID", { problem: "it is not JSON" });
  }
}

export function writtenBytes(request: IncomingMessage, limit: number): Promise<Result<Buffer>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (result: Result<Buffer>): void => {
      clearTimeout(timer);
      request.off("data", take);
      resolve(result);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) end(fail("AP_BODY_TOO_LARGE", { limit }));
      else chunks.push(chunk);
    };
    const late = (): void => end(fail("AP_INPUT_INVALID", { problem: "it did not arrive whole" }));
    const timer = setTimeout(late, arrivalMs);
    request.on("data", take);
    request.once("end", () => end(ok(Buffer.concat(chunks))));
    request.once("close", late);
    request.once("error", late);
  });
}
