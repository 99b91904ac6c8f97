import type { WireRequest } from "../../protocols/index.ts";
import type { Sending } from "../desk-port.ts";
import { type Read, rawSending } from "./read-request.ts";

/**
 * Whether a request asks its provider to keep the talk, or to go on with one it keeps. There the provider
 * would have what our tools were asked and not what they have answered, and the client sends only what is
 * new: nothing of it can be rendered by us.
 */
export function asksForThread({ bytes, members }: WireRequest): boolean {
  const member = members.find(({ key }) => key === "thread");
  if (member === undefined) return false;
  return bytes.subarray(member.value.start, member.value.end).toString("utf8") !== "null";
}

/** The client is told to send all of the talk: it does so from then on. */
export function threadRefused({ asking, body }: Read): Sending {
  return { ...rawSending(asking, body, false), isThread: true };
}
