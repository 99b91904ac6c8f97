import { createHash } from "node:crypto";
import type { Recording } from "./rig.ts";
import type { Exchange } from "./tap.ts";
import { headerOf, type WirePart } from "./wire-bytes.ts";

/**
 * Every difference that Aperture made between a client and its upstream, as text. Bodies are named by their
 * length and digest, because we must not print what clients send to their models.
 */
export function differencesIn(recording: Recording): readonly string[] {
  const near = recording.near.filter(isRelayed);
  const left = [...recording.far];
  const problems = near.flatMap((exchange, index) => {
    const far = takeCounterpart(exchange, left);
    const name = `${index + 1} ${exchange.method} ${exchange.target}`;
    if (far === null) return [`${name}: ${bodyName(exchange.request.body)} did not reach the upstream`];
    const found = [...relayDifferences(exchange, far), ...copyDifferences(exchange, recording)];
    return found.map((problem) => `${name}: ${problem}`);
  });
  const invented = left.map(
    ({ method, target, request }) =>
      `${method} ${target}: ${bodyName(request.body)} reached the upstream, but no client sent it`,
  );
  return [...problems, ...invented, ...countDifferences(recording)];
}

/** Clients request the bare address only to check that a server answers. */
export function isRelayed(exchange: Exchange): boolean {
  return exchange.target !== "/";
}

/** Clients may send the same body twice at once; then the better match is the counterpart. */
function takeCounterpart(near: Exchange, left: Exchange[]): Exchange | null {
  const candidates = left.filter((far) => isSameRequest(near, far));
  const found = candidates.find((far) => relayDifferences(near, far).length === 0) ?? candidates[0];
  if (found === undefined) return null;
  left.splice(left.indexOf(found), 1);
  return found;
}

function isSameRequest(one: Exchange, other: Exchange): boolean {
  return (
    one.method === other.method && one.target === other.target && one.request.body.equals(other.request.body)
  );
}

function relayDifferences(near: Exchange, far: Exchange): readonly string[] {
  return [
    ...differenceOf("request line", near.request.startLine, far.request.startLine),
    ...differenceOf("request framing", near.request.framing, far.request.framing),
    ...differenceOf("request headers", headersOf(near.request), headersOf(far.request)),
    ...responseDifferences(near, far),
  ];
}

function responseDifferences(near: Exchange, far: Exchange): readonly string[] {
  const { response: received } = near;
  const { response: sent } = far;
  if (received === null || sent === null) return ["it was never answered"];
  return [
    ...differenceOf("status line", received.startLine, sent.startLine),
    ...differenceOf("response headers", headersOf(received), headersOf(sent)),
    ...differenceOf("response body", bodyName(received.body), bodyName(sent.body)),
    ...(received.complete && sent.complete ? [] : ["the answer was cut off"]),
  ];
}

/** The recorder must get what the client sent and received, under the id in the response header. */
function copyDifferences(near: Exchange, recording: Recording): readonly string[] {
  const id = near.response === null ? null : headerOf(near.response, "x-aperture-request-id");
  const request = recording.requested.find((copy) => copy.id === id);
  const response = recording.answered.find((copy) => copy.id === id);
  if (request === undefined || response === undefined) return ["it was not recorded"];
  return [
    ...differenceOf("recorded target", request.target, near.target),
    ...differenceOf("recorded request", bodyName(request.body), bodyName(near.request.body)),
    ...differenceOf("recorded answer", bodyName(response.body), bodyName(near.response?.body ?? null)),
    ...differenceOf("recorded status", `${response.status}`, `${near.status}`),
    ...differenceOf("recorded outcome", response.outcome, "complete"),
  ];
}

function countDifferences(recording: Recording): readonly string[] {
  const wanted = `${recording.near.filter(isRelayed).length}`;
  return [
    ...differenceOf("number of recorded requests", `${recording.requested.length}`, wanted),
    ...differenceOf("number of recorded answers", `${recording.answered.length}`, wanted),
  ];
}

function differenceOf(what: string, actual: string, wanted: string): readonly string[] {
  return actual === wanted ? [] : [`${what} is ${actual}, not ${wanted}`];
}

const connectionHeaders = new Set([
  "connection",
  "keep-alive",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "host",
]);

/** With spelling and order: an upstream should not be able to tell that a proxy is in between. */
function headersOf(part: WirePart): string {
  return part.headers
    .filter(([name]) => !connectionHeaders.has(name.toLowerCase()) && !/^x-aperture-/i.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
}

function bodyName(body: Uint8Array | null): string {
  if (body === null) return "nothing";
  return `${body.length} bytes ${createHash("sha256").update(body).digest("hex").slice(0, 12)}`;
}
