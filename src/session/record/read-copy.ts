import {
  ingestRequest,
  readAnswer,
  spokenIn,
  type WireAnswer,
  type WireRequest,
} from "../../protocols/index.ts";
import type { RequestCopy, ResponseCopy } from "../exchange.ts";
import { decodeBody } from "./decode.ts";

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
