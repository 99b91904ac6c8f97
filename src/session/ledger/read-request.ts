import { modelTraits, type WireRequest } from "../../protocols/index.ts";
import type { Asking, Sending } from "../desk-port.ts";
import { alone, type Likeness, type Pieces } from "../exchange.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import type { Belonging } from "../record/identify.ts";
import { asksForSummary, isBeside } from "./admission.ts";
import type { Line } from "./line.ts";
import { plainBody } from "./plain.ts";
import type { Purpose } from "./rendering.ts";

/** A request that has been looked into. */
export type Read = {
  readonly asking: Asking;
  readonly body: Buffer;
  readonly request: WireRequest;
  /** The request it was read after. */
  readonly previous: WireRequest | null;
  readonly belonging: Belonging;
};

export function questionOf({ asking, belonging, request }: Read): LedgerQuestion {
  const { owner, credential } = asking.caller;
  const { client, sessionKey, agent } = belonging;
  const who = { owner, upstream: asking.upstream, client, sessionKey, credential, agent };
  return { type: "ledger", ...who, talk: request.talk };
}

const offWords: readonly string[] = ["", "0", "false", "no", "off"];
const moreModes: readonly string[] = ["ask", "auto"];

/** Whether a request is to pass as it comes, by its headers. Whoever writes one we do not know wants less. */
export function asksForLess(headers: Asking["headers"]): boolean {
  const word = (name: string): string | undefined => headers[name]?.trim().toLowerCase();
  const [bypass, mode] = [word("x-aperture-bypass"), word("x-aperture-mode")];
  return (
    (bypass !== undefined && !offWords.includes(bypass)) || (mode !== undefined && !moreModes.includes(mode))
  );
}

/** Whether it is a kind of request whose bodies are read at all. */
export function isTalk({ protocol, method, target }: Asking): boolean {
  const isMessages = /\/v1\/messages(?:\/count_tokens)?(?:\?|$)/.test(target);
  return protocol === "anthropic" && method === "POST" && isMessages;
}

export function purposeOf({ asking, request, belonging: { client } }: Read): Purpose {
  if (asking.target.includes("/count_tokens")) return "count";
  return asksForSummary(client, request) || isBeside(client, request) ? "aside" : "turn";
}

/** Clients count a tool or a text by itself, under the name of the talk. */
export function isMereCount(purpose: Purpose, { messages }: WireRequest): boolean {
  return purpose === "count" && !messages.some(({ role }) => role === "assistant");
}

export function likenessOf({ key, last }: Line, { request, previous }: Read): Likeness {
  const isNext = last !== null && last.request === previous;
  return { line: key, before: isNext ? last.id : null, shared: isNext ? request.shared : 0 };
}

export function rawSending({ id }: Asking, body: Buffer, mayRetry: boolean): Sending {
  const none = {
    betas: [],
    sent: null,
    refusal: null,
    strips: null,
    isOwnTool: null,
    textNonce: null,
    likeness: alone,
  };
  return {
    ...none,
    request: id,
    rendering: "raw",
    pieces: [body],
    length: body.length,
    mayRetry,
    clientBody: body,
  };
}

/** What can be sent for a stream without knowing what was sent before. */
export function withoutMemory(
  { key, withheld, talkName }: Pick<Line, "key" | "withheld" | "talkName">,
  { asking, body, request }: Read,
): Sending {
  const pieces = plainBody(request, withheld);
  const common = { rendering: "plain", length: lengthOf(pieces) } as const;
  const sent = {
    ...common,
    line: key,
    talkName,
    briefed: 0,
    leaf: "",
    fresh: [],
    copies: [],
    isTurn: false,
    body: pieces,
    epoch: null,
  };
  return { ...rawSending(asking, body, false), ...common, pieces, sent };
}

/** The client's own words, as far as they may be sent. */
export function clientsOwn(line: Line, read: Read): Sending {
  const isBound = modelTraits(read.request.model).isBound;
  if (isBound || line.withheld.size > 0) return withoutMemory(line, read);
  return rawSending(read.asking, read.body, false);
}

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}

/** The provider's word for reasoning that was made behind something else, or changed. */
export function isBindingRefusal(body: Uint8Array): boolean {
  const text = Buffer.from(body).toString("utf8");
  return /bound to a different conversation|invalid `?signature`? in `?thinking|blocks[^"]* cannot be modified/i.test(
    text,
  );
}
