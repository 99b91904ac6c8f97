import { expect, test } from "vitest";
import { differencesIn } from "./compare.ts";
import type { Recording } from "./rig.ts";
import type { Exchange } from "./tap.ts";
import { requestsIn, responsesIn, type WirePart } from "./wire-bytes.ts";

const requestText =
  'POST /v1/messages HTTP/1.1\r\nHost: here\r\nX-Api-Key: k\r\nContent-Length: 7\r\n\r\n{"a":1}';
const chunked =
  "HTTP/1.1 200 OK\r\nrequest-id: r1\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
const responseText = chunked.replace("transfer", "x-aperture-request-id: id-1\r\ntransfer");

function exchange(request: string, response: string): Exchange {
  const [requestPart] = requestsIn(Buffer.from(request));
  const [responsePart = null] = responsesIn(Buffer.from(response), ["POST"]);
  if (requestPart === undefined) throw new Error("no request in these bytes");
  const target = "/v1/messages";
  return { method: "POST", target, request: requestPart, response: responsePart, status: 200 };
}

function recorded(body: string, answer: string): Pick<Recording, "requested" | "answered"> {
  const common = { id: "id-1", headers: {}, length: 0 };
  const request = { protocol: "anthropic", upstream: "anthropic", method: "POST", startedMs: 0 } as const;
  const caller = { owner: "o", credential: "c", secrets: [] };
  const timing = {
    firstByteMs: 1,
    totalMs: 2,
    outcome: "complete",
    problem: null,
    blockNumbers: null,
    answer: null,
    status: 200,
  } as const;
  return {
    requested: [
      { ...common, ...request, caller, target: "/v1/messages", body: Buffer.from(body), sent: null },
    ],
    answered: [{ ...common, ...timing, body: Buffer.from(answer) }],
  };
}

const faithful: Recording = {
  near: [exchange(requestText, responseText)],
  far: [exchange(requestText.replace("here", "there"), chunked.replace("3\r\nabc\r\n2\r\nde", "5\r\nabcde"))],
  ...recorded('{"a":1}', "abcde"),
  refusals: [],
};

function withFar(request: string, response: string): Recording {
  return { ...faithful, far: [exchange(request, response)] };
}

test("a relay that changes only connection headers makes no difference", () => {
  expect(differencesIn(faithful)).toEqual([]);
});

test.each([
  ["another body", withFar(requestText.replace('"a":1', '"a":2'), chunked), /did not reach the upstream/],
  ["a missing header", withFar(requestText.replace("X-Api-Key: k\r\n", ""), chunked), /request headers/],
  [
    "a header spelled differently",
    withFar(requestText.replace("X-Api-Key", "x-api-key"), chunked),
    /request headers/,
  ],
  ["another response header", withFar(requestText, chunked.replace("r1", "r2")), /response headers/],
  ["another response body", withFar(requestText, chunked.replace("abc", "abd")), /response body/],
  ["another status", withFar(requestText, chunked.replace("200", "201")), /status line/],
  ["an answer cut off", withFar(requestText, chunked.slice(0, -5)), /cut off/],
  ["no answer", withFar(requestText, ""), /never answered/],
  [
    "a request that no client sent",
    { ...faithful, far: [...faithful.far, ...faithful.far] },
    /no client sent it/,
  ],
  ["no record", { ...faithful, requested: [] }, /not recorded/],
  ["a record of another request", { ...faithful, ...recorded("{}", "abcde") }, /recorded request/],
  ["a record of another answer", { ...faithful, ...recorded('{"a":1}', "abcd") }, /recorded answer/],
])("%s is a difference", (_, recording, expected) => {
  expect(differencesIn(recording).join("\n")).toMatch(expected);
});

test("bytes of one connection are cut into their messages", () => {
  const [first, second] = requestsIn(Buffer.from(`HEAD / HTTP/1.1\r\nHost: x\r\n\r\n${requestText}`));
  expect([first?.framing, second?.body.toString()]).toEqual(["none", '{"a":1}']);
  const head = "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n";
  const hint = "HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n";
  const parts = responsesIn(Buffer.from(head + hint + chunked), ["HEAD", "POST"]);
  const seen = parts.map(({ startLine, body, complete }: WirePart) => [startLine, body.toString(), complete]);
  expect(seen).toEqual([
    ["HTTP/1.1 404 Not Found", "", true],
    ["HTTP/1.1 200 OK", "abcde", true],
  ]);
});
