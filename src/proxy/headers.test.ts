import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clientHeaders,
  framingOf,
  headersOf,
  readHead,
  reframeHeaders,
  trailerPairs,
  upstreamHeaders,
} from "./headers.ts";

const up = (...raw: string[]) => upstreamHeaders(readHead(raw), "api.example");
const down = (...raw: string[]) =>
  clientHeaders(readHead(raw), { id: "7", isChunked: true, hasLength: true }).slice(0, -2);

describe("headers for the upstream", () => {
  test("have the upstream's host in the same position", () => {
    expect(up("A", "1", "hOsT", "x", "B", "2")).toEqual(["A", "1", "hOsT", "api.example", "B", "2"]);
  });

  test("lack headers about the client's connection", () => {
    const hops = ["Keep-Alive", "1", "TE", "trailers", "Proxy-Authorization", "x", "Upgrade", "h2c"];
    expect(up(...hops, "Proxy-Connection", "x", "HTTP2-Settings", "y", "Expect", "100-continue")).toEqual([]);
    expect(up("Connection", "close, X-Mine", "X-Mine", "1", "X-Other", "2")).toEqual([
      "Connection",
      "keep-alive",
      "X-Other",
      "2",
    ]);
  });

  test("lack our own headers", () => {
    const ours = ["X-Aperture-Session", "a", "x-aperture-token", "t", "X-APERTURE-ANYTHING", "1"];
    expect(up(...ours, "X-Aperturex", "2")).toEqual(["X-Aperturex", "2"]);
  });

  test("lack the panel's cookie, but have all others", () => {
    expect(up("Cookie", "a=1; aperture_session=x; b=2")).toEqual(["Cookie", "a=1; b=2"]);
    expect(up("Cookie", "__Host-aperture=x")).toEqual([]);
    expect(up("Cookie", "a=1;b=2")).toEqual(["Cookie", "a=1;b=2"]);
  });

  test("keep order, spelling and repetitions of all others", () => {
    const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,12}$/).map((text) => `Q${text}`);
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.stringMatching(/^[!-~]{0,20}$/))), (pairs) => {
        const raw = pairs.flat();
        expect(up(...raw)).toEqual(raw);
        expect(down(...raw)).toEqual(raw);
      }),
    );
  });
});

describe("headers for another body", () => {
  const other = (...raw: string[]) =>
    reframeHeaders(raw, { isReplaced: true, length: 7, betas: [], mustBePlain: false });
  const beta = (betas: readonly string[], ...raw: string[]) =>
    reframeHeaders(raw, { isReplaced: true, length: 7, betas, mustBePlain: false });

  test("have its length in the position of the client's", () => {
    expect(other("A", "1", "content-LENGTH", "99", "B", "2")).toEqual([
      "A",
      "1",
      "content-LENGTH",
      "7",
      "B",
      "2",
    ]);
  });

  test("have a length if the client's body was chunked", () => {
    expect(other("Trailer", "X-Sum", "Transfer-Encoding", "chunked", "B", "2")).toEqual([
      "Content-Length",
      "7",
      "B",
      "2",
    ]);
  });

  test("keep the framing if the body is the client's", () => {
    const raw = ["Trailer", "X-Sum", "Transfer-Encoding", "chunked", "B", "2"];
    expect(reframeHeaders(raw, { isReplaced: false, length: 7, betas: [], mustBePlain: false })).toEqual(raw);
  });

  test.each([
    ["a header of its own", [], ["anthropic-beta", "x-1,y-2"]],
    ["after what is there", ["Anthropic-Beta", "a"], ["Anthropic-Beta", "a,x-1,y-2"]],
    ["not twice", ["anthropic-beta", "a, x-1 ,b"], ["anthropic-beta", "a, x-1 ,b,y-2"]],
    ["not at all", ["anthropic-beta", "y-2,x-1"], ["anthropic-beta", "y-2,x-1"]],
    ["to the last", ["anthropic-beta", "x-1", "A", "1", "anthropic-beta", "b"], null],
    ["into an empty one", ["anthropic-beta", ""], ["anthropic-beta", "x-1,y-2"]],
    ["after a comma", ["anthropic-beta", "a,"], ["anthropic-beta", "a,x-1,y-2"]],
    ["beside a longer name", ["anthropic-beta", "x-11"], ["anthropic-beta", "x-11,x-1,y-2"]],
  ])("add missing betas: %s", (_name, raw, wanted) => {
    const last = ["anthropic-beta", "x-1", "A", "1", "anthropic-beta", "b,y-2"];
    expect(beta(["x-1", "y-2"], ...raw)).toEqual(wanted ?? last);
  });
});

describe("headers for the client", () => {
  test("lack the upstream's connection headers, CORS permissions and our own names", () => {
    const gone = ["Connection", "x-a", "X-A", "1", "Keep-Alive", "timeout=5", "Proxy-Authenticate", "Basic"];
    const pages = ["Access-Control-Allow-Origin", "*", "access-control-expose-headers", "x"];
    expect(
      down(...gone, ...pages, "X-Aperture-Request-Id", "fake", "Set-Cookie", "a", "Set-Cookie", "b"),
    ).toEqual(["Set-Cookie", "a", "Set-Cookie", "b"]);
  });

  test("end with the request id", () => {
    expect(clientHeaders(readHead(["A", "1"]), { id: "7", isChunked: false, hasLength: true })).toEqual([
      "A",
      "1",
      "x-aperture-request-id",
      "7",
    ]);
  });

  test("announce chunks and trailers only if they will be sent", () => {
    const raw = ["Transfer-Encoding", "chunked", "Trailer", "X-Sum"];
    expect(down(...raw)).toEqual(raw);
    expect(clientHeaders(readHead(raw), { id: "7", isChunked: false, hasLength: true })).toEqual([
      "x-aperture-request-id",
      "7",
    ]);
  });
});

test("the framing is read from length and transfer coding", () => {
  expect(framingOf(readHead([]))).toBe("none");
  expect(framingOf(readHead(["Content-Length", "0"]))).toBe("length");
  expect(framingOf(readHead(["Transfer-Encoding", "chunked"]))).toBe("chunked");
});

test("all values of a header are found in order", () => {
  expect(headersOf(readHead(["A", "1", "B", "2", "a", "3"]), "a")).toEqual(["1", "3"]);
});

test("trailers cannot change the framing or contain our headers", () => {
  const raw = ["X-Sum", "1", "Content-Length", "5", "Host", "x", "X-Aperture-Mode", "observe", "x-sum", "2"];
  expect(trailerPairs(raw)).toEqual([
    ["X-Sum", "1"],
    ["x-sum", "2"],
  ]);
});
