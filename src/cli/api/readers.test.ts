import { expect, test } from "vitest";
import { type ServerEvent, serverEvents } from "./event-reader.ts";
import { readMetrics, responsesByUpstream } from "./metrics-reader.ts";

async function readEvents(chunks: readonly Uint8Array[]): Promise<readonly ServerEvent[]> {
  const found: ServerEvent[] = [];
  for await (const event of serverEvents(asStream(chunks))) found.push(event);
  return found;
}

async function* asStream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

const text =
  ': hello\n\nevent: frame\nid: s:1\ndata: {"a":"é"}\n\n: beat\n\ndata: one\ndata: two\n\nevent: cut';
const expected = [
  { name: "frame", data: '{"a":"é"}' },
  { name: "message", data: "one\ntwo" },
];

test("events are found at any chunk size, and an unfinished one is dropped", async () => {
  const bytes = new TextEncoder().encode(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const count = Math.ceil(bytes.length / size);
    const chunks = Array.from({ length: count }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
    expect(await readEvents(chunks), `${size}`).toEqual(expected);
  }
});

test("a broken connection ends the events without an error", async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(new TextEncoder().encode("data: one\n\n"));
    throw new Error("gone");
  }
  const found: ServerEvent[] = [];
  for await (const event of serverEvents(broken())) found.push(event);
  expect(found).toEqual([{ name: "message", data: "one" }]);
});

test("metrics are read by name, and responses by upstream", () => {
  const metrics = readMetrics(
    [
      "# TYPE aperture_requests_total counter",
      "aperture_requests_total 41",
      'aperture_responses_total{upstream="anthropic",status="2xx"} 40',
      'aperture_responses_total{upstream="anthropic",status="4xx"} 1',
      'aperture_responses_total{upstream="openai",status="2xx"} 0',
      "",
    ].join("\n"),
  );
  expect(metrics.get("requests_total")).toBe(41);
  expect([...responsesByUpstream(metrics)]).toEqual([["anthropic", ["40 2xx", "1 4xx"]]]);
});
