import type { RememberedTurn } from "../desk-port.ts";
import { decodeBody } from "../record/decode.ts";

/** As providers compress, the commonest first. Headers are not kept, but a wrong guess does not read. */
const encodings = ["identity", "gzip", "br", "zstd", "deflate"] as const;

/** An answer as it was before it was compressed, with what it is; null where it cannot be told. */
export function plainAnswer(bytes: Uint8Array): RememberedTurn["answer"] {
  for (const encoding of encodings) {
    const body = decodeBody(bytes, encoding);
    const contentType = body === null ? null : typeOf(body);
    if (body !== null && contentType !== null) return { body, contentType };
  }
  return null;
}

const beginning = 64;

function typeOf(body: Uint8Array): string | null {
  const start = Buffer.from(body.subarray(0, beginning)).toString("latin1").trimStart();
  if (start.startsWith("{")) return "application/json";
  return /^(?:event|data|id|retry)?:/.test(start) ? "text/event-stream" : null;
}
