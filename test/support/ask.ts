import type { RawRequest } from "../../src/testing/read-raw-request.ts";
import type { CoreAnswer, StrictCore } from "../../src/testing/strict-core.ts";

export type AskOptions = {
  readonly target?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A request as a client would send it. Bytes and text are sent unchanged, other values as JSON. */
export function rawRequest(body: unknown, options: AskOptions = {}): RawRequest {
  const headers = { "x-api-key": "key", "anthropic-version": "2023-06-01", ...options.headers };
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    method: "POST",
    target: options.target ?? "/v1/messages",
    rawHeaders: Object.entries(headers).flat(),
    body: body instanceof Uint8Array ? body : Buffer.from(text),
  };
}

/** Asks a core without a socket, as if the answer had been read to its end. */
export async function ask(core: StrictCore, raw: RawRequest, n = 1): Promise<CoreAnswer> {
  const answer = await core.answer(core.read(raw), n);
  answer.onStart();
  return answer;
}

/** The JSON of an answer that does not stream. */
export function jsonOf(answer: CoreAnswer): unknown {
  return JSON.parse(Buffer.concat(answer.chunks).toString("utf8"));
}
