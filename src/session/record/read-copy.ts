import {
  ingestRequest,
  modelTraits,
  readAnswer,
  spokenIn,
  type WireAnswer,
  type WireRequest,
} from "../../protocols/index.ts";
import type { RequestCopy, ResponseCopy } from "../exchange.ts";
import { decodeBody } from "./decode.ts";
import type { AskedRequest } from "./recorded-line.ts";

/** Unchanged parts are taken over from the request before, where one is at hand. */
export function readRequest(
  { protocol, body }: RequestCopy,
  previous: WireRequest | null,
): WireRequest | null {
  return protocol !== "anthropic" || body === null ? null : ingestRequest(body, previous);
}

export function answerOf(protocol: RequestCopy["protocol"], copy: ResponseCopy): WireAnswer | null {
  if (protocol !== "anthropic" || copy.body === null) return null;
  const { "content-type": type = "", "content-encoding": encoding = "" } = copy.headers;
  const plain = decodeBody(copy.body, encoding);
  if (plain !== null) return readAnswer(plain, type);
  const none = {
    units: [],
    usage: null,
    model: null,
    stop: null,
    cleared: null,
    isWhole: copy.outcome === "complete",
  };
  return { ...none, problem: `its encoding (${encoding.slice(0, 40)}) cannot be read` };
}

/** How an exchange ends whose request was sent again in another form. */
export const refusal: Omit<ResponseCopy, "id"> = {
  status: 400,
  headers: {},
  body: null,
  length: 0,
  outcome: "complete",
  numbered: null,
  problem: "it was refused, and sent again in another form",
  firstByteMs: null,
  totalMs: 0,
};

/** What an answer says in words. */
export function textsIn(answer: WireAnswer | null): string {
  const spoken = (answer?.units ?? []).flatMap(({ unit, bytes }) =>
    unit.type === "text" ? [spokenIn(bytes)] : [],
  );
  return spoken.flatMap((one) => (one === null || one.type === "call" ? [] : [one.text])).join("\n");
}

/** What is needed until the answer comes: all of it only where it may have to be sent again. */
export function lasting(asked: AskedRequest): AskedRequest {
  const { copy, request } = asked;
  // What a model that binds its reasoning refuses is sent again by the desk, also where it went as it came.
  const maySendAgain = request !== null && modelTraits(request.model).isBound;
  if (copy.sent === null)
    return maySendAgain ? asked : { ...asked, copy: { ...copy, body: null }, request: null };
  return { ...asked, copy: { ...copy, sent: { ...copy.sent, fresh: [], body: [] } } };
}
