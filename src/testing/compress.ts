import { constants, createGzip } from "node:zlib";
import type { CoreAnswer } from "./core.ts";
import type { UpstreamExchange } from "./exchange.ts";
import { headersOf } from "./read.ts";

export function wantsGzip({ rawHeaders }: Pick<UpstreamExchange, "rawHeaders">): boolean {
  return /\bgzip\b/.test(headersOf(rawHeaders).get("accept-encoding") ?? "");
}

/** Each event is flushed on its own: a client that unpacks as it reads sees it at once. */
export async function compressed(answer: CoreAnswer): Promise<CoreAnswer> {
  const gzip = createGzip();
  let fresh: Buffer[] = [];
  gzip.on("data", (bytes: Buffer) => fresh.push(bytes));
  const chunks: Buffer[] = [];
  for (const chunk of answer.chunks) {
    gzip.write(chunk);
    await new Promise<void>((resolve) => gzip.flush(constants.Z_SYNC_FLUSH, resolve));
    chunks.push(Buffer.concat(fresh));
    fresh = [];
  }
  const ended = new Promise<void>((resolve) => gzip.once("end", () => resolve()));
  gzip.end();
  await ended;
  const headers = [...answer.headers, ["content-encoding", "gzip"] as const];
  return { ...answer, headers, chunks: [...chunks, Buffer.concat(fresh)] };
}
