import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { eventInterceptor, type Interceptor, nothingSaid, wireEvent } from "./intercept.ts";
import { messageInterceptor } from "./intercept-message.ts";

const isOwn = (name: string): boolean => name.startsWith("aperture_");

type Said = { readonly type: string; readonly [name: string]: unknown };
const text = (words: string): Said => ({ type: "text", text: words });
const call = (name: string, id = name): Said => ({ type: "tool_use", id, name, input: {} });
const usage = (input: number, output: number) => ({
  input_tokens: input,
  cache_read_input_tokens: input * 10,
  output_tokens: output,
});

type Sampling = { readonly content: readonly Said[]; readonly stop?: string; readonly tokens?: number };

function stopOf({ content, stop }: Sampling): string {
  return stop ?? (content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn");
}

function events(sampling: Sampling): Buffer {
  const { content, tokens = 5 } = sampling;
  const blocks = content.flatMap((block, index) => [
    wireEvent({ type: "content_block_start", index, content_block: { ...block, text: "" } }),
    wireEvent({ type: "ping" }),
    wireEvent({
      type: "content_block_delta",
      index,
      delta: { type: "text_delta", text: `${block["text"] ?? ""}` },
    }),
    wireEvent({ type: "content_block_stop", index }),
  ]);
  const delta = { stop_reason: stopOf(sampling), stop_sequence: null };
  return Buffer.concat([
    wireEvent({ type: "message_start", message: { id: "m", content: [], usage: usage(tokens, 1) } }),
    ...blocks,
    wireEvent({ type: "message_delta", delta, usage: { output_tokens: tokens } }),
    wireEvent({ type: "message_stop" }),
  ]);
}

function message(sampling: Sampling): Buffer {
  const { content, tokens = 5 } = sampling;
  return Buffer.from(
    JSON.stringify({
      id: "m",
      content,
      stop_reason: stopOf(sampling),
      usage: usage(tokens, tokens),
      later: 1,
    }),
  );
}

/** What a client gets of several samplings, and how often somebody was waited for. */
function played(
  interceptor: Interceptor,
  bodies: readonly Buffer[],
  cut: (body: Buffer) => readonly Buffer[],
) {
  const out: Uint8Array[] = [];
  let rounds = 0;
  for (const [at, body] of bodies.entries()) {
    for (const piece of cut(body)) out.push(...interceptor.push(piece));
    if (at === bodies.length - 1 || !interceptor.waits()) break;
    rounds += 1;
    interceptor.goOn();
  }
  return { bytes: Buffer.concat([...out, ...interceptor.end()]), rounds };
}

const whole = (body: Buffer): readonly Buffer[] => [body];

type Shown = Record<string, unknown> & { readonly type: string };

function shownEvents(bytes: Buffer): readonly Shown[] {
  const lines = bytes.toString("utf8").split("\n");
  const data = lines.filter((line) => line.startsWith("data: "));
  return data.map((line) => JSON.parse(line.slice("data: ".length)) as Shown);
}

function starts(bytes: Buffer): readonly unknown[] {
  return shownEvents(bytes)
    .filter(({ type }) => type === "content_block_start")
    .map(({ index, content_block }) => [index, (content_block as Said)["name"] ?? "text"]);
}

describe("an answer in events", () => {
  test("passes byte for byte where nothing of ours is in it", () => {
    const body = events({ content: [text("a"), call("read")] });
    const { bytes, rounds } = played(eventInterceptor(isOwn), [body], whole);
    expect(rounds).toBe(0);
    expect(bytes.equals(body)).toBe(true);
  });

  test("hides a call of ours beside one of the client's, and numbers what follows anew", () => {
    const body = events({ content: [text("a"), call("aperture_change"), call("read")] });
    const { bytes, rounds } = played(eventInterceptor(isOwn), [body], whole);
    expect(rounds).toBe(0);
    expect(starts(bytes)).toEqual([
      [0, "text"],
      [1, "read"],
    ]);
    expect(bytes.includes("aperture")).toBe(false);
    expect(shownEvents(bytes).at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  test("is one message made of several samplings", () => {
    const bodies = [
      { content: [text("a"), call("aperture_read")], tokens: 7 },
      { content: [call("aperture_read")], tokens: 8 },
      { content: [text("b"), call("read")], tokens: 9 },
    ].map(events);
    const { bytes, rounds } = played(eventInterceptor(isOwn), bodies, whole);
    const shown = shownEvents(bytes);
    expect(rounds).toBe(2);
    expect(starts(bytes)).toEqual([
      [0, "text"],
      [1, "text"],
      [2, "read"],
    ]);
    expect(shown.filter(({ type }) => type === "message_start")).toHaveLength(1);
    expect(shown.filter(({ type }) => type === "message_stop")).toHaveLength(1);
    const end = shown.find(({ type }) => type === "message_delta");
    expect(end).toMatchObject({
      delta: { stop_reason: "tool_use" },
      usage: { input_tokens: 9, cache_read_input_tokens: 90, output_tokens: 24 },
    });
    const { iterations } = (end as unknown as { readonly usage: { readonly iterations: readonly Said[] } })
      .usage;
    expect(iterations.map(({ type, input_tokens }) => [type, input_tokens])).toEqual([
      ["message", 7],
      ["message", 8],
      ["message", 9],
    ]);
  });

  test("that nobody goes on with ends as a turn does, and says something", () => {
    const { bytes } = played(eventInterceptor(isOwn), [events({ content: [call("aperture_read")] })], whole);
    const shown = shownEvents(bytes);
    expect(shown.find(({ type }) => type === "message_delta")).toMatchObject({
      delta: { stop_reason: "end_turn" },
    });
    expect(bytes.includes(nothingSaid)).toBe(true);
    expect(shown.map(({ type }) => type).filter((type) => type !== "ping")).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("tells a refusal, a pause and a limit as they are", () => {
    for (const stop of ["refusal", "pause_turn", "max_tokens"]) {
      const body = events({ content: [text("a"), call("aperture_read")], stop });
      const { bytes, rounds } = played(eventInterceptor(isOwn), [body, body], whole);
      expect(rounds).toBe(0);
      expect(shownEvents(bytes).at(-2)).toMatchObject({ delta: { stop_reason: stop } });
    }
  });

  test("waits for nobody where it broke off", () => {
    const body = events({ content: [call("aperture_read")] });
    const interceptor = eventInterceptor(isOwn);
    interceptor.push(body.subarray(0, -10));
    expect(interceptor.waits()).toBe(false);
  });

  const said = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }).map(text),
    fc.constantFrom("aperture_read", "aperture_change", "read", "write").map((name) => call(name)),
  );
  const samplings = fc.array(
    fc.record({ content: fc.array(said, { maxLength: 4 }), tokens: fc.integer({ min: 1, max: 99 }) }),
    { minLength: 1, maxLength: 4 },
  );

  test("comes out the same however it was cut", () => {
    fc.assert(
      fc.property(samplings, fc.integer({ min: 1, max: 60 }), (given, size) => {
        const cut = (body: Buffer): readonly Buffer[] =>
          Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
            body.subarray(at * size, (at + 1) * size),
          );
        const bodies = given.map(events);
        const once = played(eventInterceptor(isOwn), bodies, whole);
        const often = played(eventInterceptor(isOwn), bodies, cut);
        expect(often.bytes.equals(once.bytes)).toBe(true);
        expect(often.rounds).toBe(once.rounds);
        const indexes = starts(once.bytes).map((one) => (one as readonly unknown[])[0]);
        expect(indexes).toEqual(indexes.map((_, at) => at));
        expect(once.bytes.includes("aperture_")).toBe(false);
      }),
    );
  });
});

test("the parts of a prompt add up for a client that keeps what the end says is zero", () => {
  const began = { input_tokens: 10, cache_creation_input_tokens: 300, cache_read_input_tokens: 0 };
  const ended = { input_tokens: 40, cache_creation_input_tokens: 0, cache_read_input_tokens: 900 };
  const bodies = [began, ended].map((prompt, at) => {
    const sampling = { content: [at === 0 ? call("aperture_read") : text("b")] };
    const start = { type: "message_start", message: { id: "m", content: [], usage: prompt } };
    const written = events(sampling).toString();
    return Buffer.concat([wireEvent(start), Buffer.from(written.slice(written.indexOf("\n\n") + 2))]);
  });
  const { bytes } = played(eventInterceptor(isOwn), bodies, whole);
  const end = /"usage":(\{"output_tokens".*\})\}/.exec(bytes.toString())?.[1] ?? "{}";
  const { iterations, ...told } = JSON.parse(end) as { readonly iterations: readonly unknown[] };
  expect(told).toMatchObject({
    input_tokens: 40,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 600,
  });
  expect(iterations).toMatchObject([began, ended]);
});

const mark = "k7f3";
const noTool = (): boolean => false;
const cutInto =
  (size: number) =>
  (body: Buffer): readonly Buffer[] =>
    Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
      body.subarray(at * size, (at + 1) * size),
    );

/** Every sign in a delta of its own. */
function slowly(sampling: Sampling): Buffer {
  const whole = events({ ...sampling, content: [] });
  const at = whole.indexOf("event: message_delta");
  const blocks = sampling.content.flatMap((block, index) => [
    wireEvent({ type: "content_block_start", index, content_block: { ...block, text: "" } }),
    ...[...`${block["text"]}`].map((sign) =>
      wireEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text: sign } }),
    ),
    wireEvent({ type: "content_block_stop", index }),
  ]);
  return Buffer.concat([whole.subarray(0, at), ...blocks, whole.subarray(at)]);
}

/** The texts a client puts together, by their blocks. */
function texts(bytes: Buffer): readonly string[] {
  const said: string[] = [];
  for (const { type, index, delta } of shownEvents(bytes)) {
    if (type === "content_block_start") said[index as number] = "";
    if (type === "content_block_delta") said[index as number] += (delta as { readonly text: string }).text;
  }
  return said;
}

const inJson = (bytes: Buffer): readonly string[] =>
  (JSON.parse(bytes.toString("utf8")) as { readonly content: readonly Said[] }).content.map(
    (block) => `${block["text"]}`,
  );

describe("an answer with command lines", () => {
  const first = (content: readonly Said[], stop = "end_turn"): Sampling => ({ content, stop });
  /** What was said, text by text; what the client gets of it; whether we are waited for. */
  type Case = {
    readonly name: string;
    readonly said: readonly string[];
    readonly got: readonly string[];
    readonly waits?: true;
  };
  const same = (name: string, words: string): Case => ({ name, said: [words], got: [words] });
  const cases: readonly Case[] = [
    { name: "reads", said: [`a\n@manifest() ${mark}\nb`], got: ["a\nb"], waits: true },
    { name: "changes", said: [`a\n@pin(4) ${mark}`], got: ["a\n"] },
    { name: "does nothing else", said: [`\n@pin(4) ${mark}\n`], got: [nothingSaid], waits: true },
    { name: "has a text of commands alone", said: ["a", `@pin(4) ${mark}`, "b"], got: ["a", "b"] },
    same("is fenced", `\`\`\`\n@pin(4) ${mark}\n\`\`\``),
    same("is quoted", `> a\n@diff() ${mark}`),
    same("has no mark", "@diff()\n@diff() zzzz"),
    same("has blanks alone", " \n"),
    same("breaks off in one", "a\n@pin(4"),
  ];

  test.each(cases)("that $name", ({ said, got: wanted, waits = false }) => {
    const content = said.map(text);
    const sampling = first(content);
    for (const body of [events(sampling), slowly(sampling)]) {
      for (const cut of [whole, cutInto(7)]) {
        const interceptor = eventInterceptor(noTool, mark);
        const pieces = cut(body).flatMap((piece) => interceptor.push(piece));
        expect(interceptor.waits()).toBe(waits);
        const bytes = Buffer.concat([...pieces, ...interceptor.end()]);
        expect(texts(bytes)).toEqual(wanted);
        expect(shownEvents(bytes).at(-1)).toMatchObject({ type: "message_stop" });
      }
    }
    const interceptor = messageInterceptor(noTool, 1_000_000, mark);
    const pieces = interceptor.push(message(sampling));
    expect(interceptor.waits()).toBe(waits);
    expect(inJson(Buffer.concat([...pieces, ...interceptor.end()]))).toEqual(wanted);
  });

  test("passes byte for byte where nothing waits", () => {
    const body = slowly({ content: [text("a\nb"), text("c @pin(4)")] });
    expect(played(eventInterceptor(noTool, mark), [body], whole).bytes.equals(body)).toBe(true);
  });

  test("goes on where it stopped, as one message", () => {
    const bodies = [first([text(`a\n@diff() ${mark}`)]), first([text(`@pin(4) ${mark}`), text("b")])];
    const { bytes, rounds } = played(eventInterceptor(noTool, mark), bodies.map(events), whole);
    expect([rounds, texts(bytes)]).toEqual([1, ["a\n", "b"]]);
    const once = played(messageInterceptor(noTool, 1_000_000, mark), bodies.map(message), whole);
    expect([once.rounds, inJson(once.bytes)]).toEqual([1, ["a\n", "b"]]);
  });

  test("waits for nobody beside a call of the client's, or at a limit", () => {
    const said = text(`@diff() ${mark}`);
    for (const sampling of [first([said, call("read")], "tool_use"), first([said], "max_tokens")]) {
      const interceptor = eventInterceptor(noTool, mark);
      interceptor.push(events(sampling));
      expect(interceptor.waits()).toBe(false);
    }
  });

  test("gives what waits where the answer breaks off", () => {
    const interceptor = eventInterceptor(noTool, mark);
    const body = events(first([text("a\n@pin(4")]));
    const pieces = interceptor.push(body.subarray(0, body.indexOf("event: content_block_stop")));
    expect(texts(Buffer.concat([...pieces, ...interceptor.end()]))).toEqual(["a\n@pin(4"]);
  });
});

describe("an answer in one piece", () => {
  const read = (bytes: Buffer) => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  const interceptor = () => messageInterceptor(isOwn, 1_000_000);

  test("passes byte for byte where nothing of ours is in it", () => {
    const body = message({ content: [text("a"), call("read")] });
    expect(played(interceptor(), [body], whole).bytes.equals(body)).toBe(true);
  });

  test("is one message made of several samplings", () => {
    const bodies = [
      { content: [text("a"), call("aperture_read")], tokens: 7 },
      { content: [text("b"), call("aperture_change"), call("read")], tokens: 9 },
    ].map(message);
    const { bytes, rounds } = played(interceptor(), bodies, whole);
    expect(rounds).toBe(1);
    expect(read(bytes)).toMatchObject({
      content: [text("a"), text("b"), call("read")],
      stop_reason: "tool_use",
      usage: { input_tokens: 9, output_tokens: 16 },
      later: 1,
    });
  });

  test("says something where nobody goes on with it", () => {
    const { bytes } = played(interceptor(), [message({ content: [call("aperture_read")] })], whole);
    expect(read(bytes)).toMatchObject({ content: [text(nothingSaid)], stop_reason: "end_turn" });
  });

  test("passes as it came where it is no message, or too large to be held", () => {
    const error = Buffer.from('{"type":"error","error":{}}');
    expect(played(interceptor(), [error], whole).bytes.equals(error)).toBe(true);
    const large = message({ content: [call("aperture_read")] });
    expect(played(messageInterceptor(isOwn, 10), [large], whole).bytes.equals(large)).toBe(true);
  });
});
