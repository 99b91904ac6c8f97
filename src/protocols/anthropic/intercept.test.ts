import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import type { InterceptOptions, Interceptor } from "../protocol.ts";
import type { WireAnswer } from "../wire.ts";
import { readWireAnswer } from "./answer.ts";
import { noAnswerText } from "./hide-calls.ts";
import { interceptAnswer } from "./intercept.ts";
import { encodeEvent } from "./refusals.ts";

const isOwn = (name: string): boolean => name.startsWith("aperture_");

type IsOwn = (name: string) => boolean;

function interceptor(contentType: string, options: Partial<InterceptOptions>): Interceptor {
  const none = { ownLines: null, isOwnTool: null, commandNonce: null, bytesMax: 1e8 };
  return must(interceptAnswer(contentType, { ...none, ...options }), "the form is known");
}
const eventInterceptor = (isOwnTool: IsOwn, commandNonce: string | null = null): Interceptor =>
  interceptor("text/event-stream", { isOwnTool, commandNonce });
const messageInterceptor = (isOwnTool: IsOwn, bytesMax: number, commandNonce: string | null = null) =>
  interceptor("application/json", { isOwnTool, commandNonce, bytesMax });

type AnswerBlock = { readonly type: string; readonly [name: string]: unknown };
const text = (content: string): AnswerBlock => ({ type: "text", text: content });
const call = (name: string, id = name): AnswerBlock => ({ type: "tool_use", id, name, input: {} });
const usage = (input: number, output: number) => ({
  input_tokens: input,
  cache_read_input_tokens: input * 10,
  output_tokens: output,
});

type Round = { readonly content: readonly AnswerBlock[]; readonly stop?: string; readonly tokens?: number };

function stopOf({ content, stop }: Round): string {
  return stop ?? (content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn");
}

function events(round: Round): Buffer {
  const { content, tokens = 5 } = round;
  const blocks = content.flatMap((block, index) => [
    encodeEvent({ type: "content_block_start", index, content_block: { ...block, text: "" } }),
    encodeEvent({ type: "ping" }),
    encodeEvent({
      type: "content_block_delta",
      index,
      delta: { type: "text_delta", text: `${block["text"] ?? ""}` },
    }),
    encodeEvent({ type: "content_block_stop", index }),
  ]);
  const delta = { stop_reason: stopOf(round), stop_sequence: null };
  return Buffer.concat([
    encodeEvent({ type: "message_start", message: { id: "m", content: [], usage: usage(tokens, 1) } }),
    ...blocks,
    encodeEvent({ type: "message_delta", delta, usage: { output_tokens: tokens } }),
    encodeEvent({ type: "message_stop" }),
  ]);
}

function message(round: Round): Buffer {
  const { content, tokens = 5 } = round;
  return Buffer.from(
    JSON.stringify({
      id: "m",
      content,
      stop_reason: stopOf(round),
      usage: usage(tokens, tokens),
      later: 1,
    }),
  );
}

/** The bytes a client gets of several rounds, and how often the answer waited for us. */
function playRounds(
  interceptor: Interceptor,
  bodies: readonly Buffer[],
  cut: (body: Buffer) => readonly Buffer[],
) {
  const out: Uint8Array[] = [];
  let rounds = 0;
  for (const [at, body] of bodies.entries()) {
    for (const piece of cut(body)) out.push(...interceptor.push(piece));
    out.push(...interceptor.endRound());
    if (at === bodies.length - 1 || !interceptor.isWaitingForUs()) break;
    rounds += 1;
    interceptor.beginRound();
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
    .map(({ index, content_block }) => [index, (content_block as AnswerBlock)["name"] ?? "text"]);
}

describe("an answer in events", () => {
  test("passes byte for byte if it has no calls of ours", () => {
    const body = events({ content: [text("a"), call("read")] });
    const { bytes, rounds } = playRounds(eventInterceptor(isOwn), [body], whole);
    expect(rounds).toBe(0);
    expect(bytes.equals(body)).toBe(true);
  });

  test("hides a call of ours beside one of the client's, and renumbers the blocks behind it", () => {
    const body = events({ content: [text("a"), call("aperture_change"), call("read")] });
    const { bytes, rounds } = playRounds(eventInterceptor(isOwn), [body], whole);
    expect(rounds).toBe(0);
    expect(starts(bytes)).toEqual([
      [0, "text"],
      [1, "read"],
    ]);
    expect(bytes.includes("aperture")).toBe(false);
    expect(shownEvents(bytes).at(-2)).toMatchObject({ delta: { stop_reason: "tool_use" } });
  });

  test("is one message made of several rounds", () => {
    const bodies = [
      { content: [text("a"), call("aperture_read")], tokens: 7 },
      { content: [call("aperture_read")], tokens: 8 },
      { content: [text("b"), call("read")], tokens: 9 },
    ].map(events);
    const { bytes, rounds } = playRounds(eventInterceptor(isOwn), bodies, whole);
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
    const { iterations } = (
      end as unknown as { readonly usage: { readonly iterations: readonly AnswerBlock[] } }
    ).usage;
    expect(iterations.map(({ type, input_tokens }) => [type, input_tokens])).toEqual([
      ["message", 7],
      ["message", 8],
      ["message", 9],
    ]);
  });

  test("without a next round ends the turn, with a text that there is no answer", () => {
    const { bytes } = playRounds(
      eventInterceptor(isOwn),
      [events({ content: [call("aperture_read")] })],
      whole,
    );
    const shown = shownEvents(bytes);
    expect(shown.find(({ type }) => type === "message_delta")).toMatchObject({
      delta: { stop_reason: "end_turn" },
    });
    expect(bytes.includes(noAnswerText)).toBe(true);
    expect(shown.map(({ type }) => type).filter((type) => type !== "ping")).toEqual([
      "message_start",
      "content_block_start",
      "content_block_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
  });

  test("keeps the stop reason of a refusal, a pause and a limit", () => {
    for (const stop of ["refusal", "pause_turn", "max_tokens"]) {
      const body = events({ content: [text("a"), call("aperture_read")], stop });
      const { bytes, rounds } = playRounds(eventInterceptor(isOwn), [body, body], whole);
      expect(rounds).toBe(0);
      expect(shownEvents(bytes).at(-2)).toMatchObject({ delta: { stop_reason: stop } });
    }
  });

  test("does not wait for us if it broke off", () => {
    const body = events({ content: [call("aperture_read")] });
    const interceptor = eventInterceptor(isOwn);
    interceptor.push(body.subarray(0, -10));
    expect(interceptor.isWaitingForUs()).toBe(false);
  });

  const block = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }).map(text),
    fc.constantFrom("aperture_read", "aperture_change", "read", "write").map((name) => call(name)),
  );
  const anyRounds = fc.array(
    fc.record({ content: fc.array(block, { maxLength: 4 }), tokens: fc.integer({ min: 1, max: 99 }) }),
    { minLength: 1, maxLength: 4 },
  );

  test("comes out the same however it was cut", () => {
    fc.assert(
      fc.property(anyRounds, fc.integer({ min: 1, max: 60 }), (input, size) => {
        const cut = (body: Buffer): readonly Buffer[] =>
          Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
            body.subarray(at * size, (at + 1) * size),
          );
        const bodies = input.map(events);
        const once = playRounds(eventInterceptor(isOwn), bodies, whole);
        const often = playRounds(eventInterceptor(isOwn), bodies, cut);
        expect(often.bytes.equals(once.bytes)).toBe(true);
        expect(often.rounds).toBe(once.rounds);
        const indexes = starts(once.bytes).map((one) => (one as readonly unknown[])[0]);
        expect(indexes).toEqual(indexes.map((_, at) => at));
        expect(once.bytes.includes("aperture_")).toBe(false);
      }),
    );
  });
});

test("the parts of a prompt add up for a client that keeps a first figure if the last is zero", () => {
  const first = { input_tokens: 10, cache_creation_input_tokens: 300, cache_read_input_tokens: 0 };
  const last = { input_tokens: 40, cache_creation_input_tokens: 0, cache_read_input_tokens: 900 };
  const bodies = [first, last].map((prompt, at) => {
    const round = { content: [at === 0 ? call("aperture_read") : text("b")] };
    const start = { type: "message_start", message: { id: "m", content: [], usage: prompt } };
    const body = events(round).toString();
    return Buffer.concat([encodeEvent(start), Buffer.from(body.slice(body.indexOf("\n\n") + 2))]);
  });
  const { bytes } = playRounds(eventInterceptor(isOwn), bodies, whole);
  const end = /"usage":(\{"output_tokens".*\})\}/.exec(bytes.toString())?.[1] ?? "{}";
  const { iterations, ...totals } = JSON.parse(end) as { readonly iterations: readonly unknown[] };
  expect(totals).toMatchObject({
    input_tokens: 40,
    cache_creation_input_tokens: 300,
    cache_read_input_tokens: 600,
  });
  expect(iterations).toMatchObject([first, last]);
});

const nonce = "k7f3";
const noTool = (): boolean => false;
const cutInto =
  (size: number) =>
  (body: Buffer): readonly Buffer[] =>
    Array.from({ length: Math.ceil(body.length / size) }, (_, at) =>
      body.subarray(at * size, (at + 1) * size),
    );

/** Every character in a delta of its own. */
function charByChar(round: Round): Buffer {
  const whole = events({ ...round, content: [] });
  const at = whole.indexOf("event: message_delta");
  const blocks = round.content.flatMap((block, index) => [
    encodeEvent({ type: "content_block_start", index, content_block: { ...block, text: "" } }),
    ...[...`${block["text"]}`].map((sign) =>
      encodeEvent({ type: "content_block_delta", index, delta: { type: "text_delta", text: sign } }),
    ),
    encodeEvent({ type: "content_block_stop", index }),
  ]);
  return Buffer.concat([whole.subarray(0, at), ...blocks, whole.subarray(at)]);
}

/** The texts a client puts together, one for each block. */
function texts(bytes: Buffer): readonly string[] {
  const byBlock: string[] = [];
  for (const { type, index, delta } of shownEvents(bytes)) {
    if (type === "content_block_start") byBlock[index as number] = "";
    if (type === "content_block_delta") byBlock[index as number] += (delta as { readonly text: string }).text;
  }
  return byBlock;
}

const inJson = (bytes: Buffer): readonly string[] =>
  (JSON.parse(bytes.toString("utf8")) as { readonly content: readonly AnswerBlock[] }).content.map(
    (block) => `${block["text"]}`,
  );

describe("an answer with command lines", () => {
  const first = (content: readonly AnswerBlock[], stop = "end_turn"): Round => ({ content, stop });
  type Case = {
    readonly name: string;
    /** The texts of the model. */
    readonly sent: readonly string[];
    /** The texts the client gets. */
    readonly received: readonly string[];
    readonly isWaitingForUs?: true;
  };
  const same = (name: string, content: string): Case => ({ name, sent: [content], received: [content] });
  const cases: readonly Case[] = [
    { name: "reads", sent: [`a\n@manifest() ${nonce}\nb`], received: ["a\nb"], isWaitingForUs: true },
    { name: "changes", sent: [`a\n@pin(4) ${nonce}`], received: ["a\n"] },
    {
      name: "has nothing but a command",
      sent: [`\n@pin(4) ${nonce}\n`],
      received: [noAnswerText],
      isWaitingForUs: true,
    },
    { name: "has a block of commands alone", sent: ["a", `@pin(4) ${nonce}`, "b"], received: ["a", "b"] },
    same("is fenced", `\`\`\`\n@pin(4) ${nonce}\n\`\`\``),
    same("is quoted", `> a\n@diff() ${nonce}`),
    same("has no nonce", "@diff()\n@diff() zzzz"),
    same("has only blanks", " \n"),
    same("breaks off in a command", "a\n@pin(4"),
  ];

  test.each(cases)("that $name", ({ sent, received, isWaitingForUs = false }) => {
    const content = sent.map(text);
    const round = first(content);
    for (const body of [events(round), charByChar(round)]) {
      for (const cut of [whole, cutInto(7)]) {
        const interceptor = eventInterceptor(noTool, nonce);
        const pieces = cut(body).flatMap((piece) => interceptor.push(piece));
        expect(interceptor.isWaitingForUs()).toBe(isWaitingForUs);
        const bytes = Buffer.concat([...pieces, ...interceptor.end()]);
        expect(texts(bytes)).toEqual(received);
        expect(shownEvents(bytes).at(-1)).toMatchObject({ type: "message_stop" });
      }
    }
    const interceptor = messageInterceptor(noTool, 1_000_000, nonce);
    const pieces = [...interceptor.push(message(round)), ...interceptor.endRound()];
    expect(interceptor.isWaitingForUs()).toBe(isWaitingForUs);
    expect(inJson(Buffer.concat([...pieces, ...interceptor.end()]))).toEqual(received);
  });

  test("passes byte for byte if no line is held", () => {
    const body = charByChar({ content: [text("a\nb"), text("c @pin(4)")] });
    expect(playRounds(eventInterceptor(noTool, nonce), [body], whole).bytes.equals(body)).toBe(true);
  });

  test("continues in the next round as one message", () => {
    const bodies = [first([text(`a\n@diff() ${nonce}`)]), first([text(`@pin(4) ${nonce}`), text("b")])];
    const { bytes, rounds } = playRounds(eventInterceptor(noTool, nonce), bodies.map(events), whole);
    expect([rounds, texts(bytes)]).toEqual([1, ["a\n", "b"]]);
    const once = playRounds(messageInterceptor(noTool, 1_000_000, nonce), bodies.map(message), whole);
    expect([once.rounds, inJson(once.bytes)]).toEqual([1, ["a\n", "b"]]);
  });

  test("does not wait for us beside a call of the client's, or at a limit", () => {
    const command = text(`@diff() ${nonce}`);
    for (const round of [first([command, call("read")], "tool_use"), first([command], "max_tokens")]) {
      const interceptor = eventInterceptor(noTool, nonce);
      interceptor.push(events(round));
      expect(interceptor.isWaitingForUs()).toBe(false);
    }
  });

  test("passes the held text on if it breaks off", () => {
    const interceptor = eventInterceptor(noTool, nonce);
    const body = events(first([text("a\n@pin(4")]));
    const pieces = interceptor.push(body.subarray(0, body.indexOf("event: content_block_stop")));
    expect(texts(Buffer.concat([...pieces, ...interceptor.end()]))).toEqual(["a\n@pin(4"]);
  });
});

describe("an answer in one piece", () => {
  const read = (bytes: Buffer) => JSON.parse(bytes.toString("utf8")) as Record<string, unknown>;
  const hiding = () => messageInterceptor(isOwn, 1_000_000);

  test("passes byte for byte if it has no calls of ours", () => {
    const body = message({ content: [text("a"), call("read")] });
    expect(playRounds(hiding(), [body], whole).bytes.equals(body)).toBe(true);
  });

  test("is one message made of several rounds", () => {
    const bodies = [
      { content: [text("a"), call("aperture_read")], tokens: 7 },
      { content: [text("b"), call("aperture_change"), call("read")], tokens: 9 },
    ].map(message);
    const { bytes, rounds } = playRounds(hiding(), bodies, whole);
    expect(rounds).toBe(1);
    expect(read(bytes)).toMatchObject({
      content: [text("a"), text("b"), call("read")],
      stop_reason: "tool_use",
      usage: { input_tokens: 9, output_tokens: 16 },
      later: 1,
    });
  });

  test("without a next round has a text that there is no answer", () => {
    const { bytes } = playRounds(hiding(), [message({ content: [call("aperture_read")] })], whole);
    expect(read(bytes)).toMatchObject({ content: [text(noAnswerText)], stop_reason: "end_turn" });
  });

  test("passes unchanged if it is no message, or too large to be held", () => {
    const error = Buffer.from('{"type":"error","error":{}}');
    expect(playRounds(hiding(), [error], whole).bytes.equals(error)).toBe(true);
    const large = message({ content: [call("aperture_read")] });
    expect(playRounds(messageInterceptor(isOwn, 10), [large], whole).bytes.equals(large)).toBe(true);
  });
});

describe("the answer that an interceptor reads", () => {
  const ownLine = "[k7f3 turn 3]";
  const isOwnLine = (line: string): boolean => line.trim() === ownLine;
  const ownLines = { isOwn: isOwnLine, opens: () => false, continues: () => false };
  const uses: readonly Partial<InterceptOptions>[] = [
    {},
    { ownLines },
    { isOwnTool: isOwn },
    { ownLines, isOwnTool: isOwn, commandNonce: nonce },
  ];
  const anyBlock = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }).map(text),
    fc.constantFrom(`a\n${ownLine}\nb`, `@pin(4) ${nonce}`, '\\ \u0001 " ü').map(text),
    fc.constantFrom("aperture_read", "read").map((name) => call(name)),
  );
  const rounds = fc.array(fc.array(anyBlock, { maxLength: 4 }), { minLength: 1, maxLength: 3 });
  const scraps = fc.constantFrom(
    "",
    "event: ping\n",
    ": a comment\n\n",
    "data: {\n\n",
    "data: a\rdata: b\r\r",
  );

  test.each(uses)("is the upstream's, whatever the client gets: %o", (use) => {
    fc.assert(
      fc.property(rounds, fc.integer({ min: 1, max: 90 }), scraps, (contents, size, scrap) => {
        const intercepted = interceptor("text/event-stream", use);
        for (const [at, content] of contents.entries()) {
          if (at > 0) intercepted.beginRound();
          const body = Buffer.concat([charByChar({ content }), Buffer.from(scrap)]);
          for (const piece of cutInto(size)(body)) intercepted.push(piece);
          intercepted.endRound();
          expect(intercepted.answer()).toEqual(readWireAnswer(body, "text/event-stream"));
        }
      }),
      { numRuns: 30 },
    );
    const body = message({ content: [text(`a\n${ownLine}`), call("aperture_read")] });
    const intercepted = interceptor("application/json", use);
    intercepted.push(body);
    expect(intercepted.answer()).toEqual(readWireAnswer(body, "application/json"));
  });

  test("is there with its last event, before its body has ended", () => {
    const intercepted = interceptor("text/event-stream", {});
    const body = events({ content: [text("a")] });
    intercepted.push(body.subarray(0, -1));
    expect(intercepted.hasStopped()).toBe(false);
    intercepted.push(body.subarray(-1));
    expect([intercepted.hasStopped(), intercepted.answer()?.isWhole]).toEqual([true, true]);
  });

  test("is read on behind an event that is too long to be held", () => {
    for (const [use, size] of [
      [{ ownLines }, 200_000],
      [{ isOwnTool: isOwn }, 5_000_000],
    ] as const) {
      const intercepted = interceptor("text/event-stream", use);
      const body = events({ content: [text("x".repeat(size)), call("aperture_read")] });
      const out = cutInto(600_000)(body).flatMap((piece) => intercepted.push(piece));
      const hashes = (answer: WireAnswer | null) => answer?.units.map(({ unit }) => unit.hash);
      expect(hashes(intercepted.answer())).toEqual(hashes(readWireAnswer(body, "text/event-stream")));
      expect(Buffer.concat([...out, ...intercepted.end()]).equals(body)).toBe(true);
    }
  });

  test("is not kept if it is too large", () => {
    const body = events({ content: [text("a")] });
    const intercepted = interceptor("text/event-stream", { bytesMax: body.length - 1 });
    expect(Buffer.concat(intercepted.push(body) as Uint8Array[]).equals(body)).toBe(true);
    expect(intercepted.answer()).toBeNull();
  });
});

test("our lines are taken out and our calls hidden in one pass, however the answer is cut", () => {
  const ownLine = "[k7f3 turn 3]";
  const ownLines = { isOwn: (line: string) => line === ownLine, opens: () => false, continues: () => false };
  const body = charByChar({ content: [call("aperture_read"), text(`a\n${ownLine}\nb`), call("read")] });
  for (const size of [1, 7, 100, 1e6]) {
    const intercepted = interceptor("text/event-stream", { ownLines, isOwnTool: isOwn });
    const out = cutInto(size)(body).flatMap((piece) => intercepted.push(piece));
    const bytes = Buffer.concat([...out, ...intercepted.end()]);
    expect(starts(bytes)).toEqual([
      [0, "text"],
      [1, "read"],
    ]);
    expect(texts(bytes)[0]).toBe("a\nb");
    expect(intercepted.answer()?.units).toHaveLength(3);
  }
});
