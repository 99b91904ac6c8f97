// Tests of the simulated cache, the miss detector and the rules of the cost benchmark.
import { expect, test } from "vitest";
import { readAssumptions } from "../../bench/cost/assumptions.ts";
import { type ClientStream, inBatches, oracle, pruneResults } from "../../bench/cost/prune.ts";
import { assumptions } from "../../src/analysis/index.ts";
import { BreakDetector } from "../../src/analysis/play/break-detector.ts";
import { ExpandCharge } from "../../src/analysis/play/expand-charge.ts";
import { MissDetector } from "../../src/analysis/play/miss-detector.ts";
import { PromptMeter } from "../../src/analysis/play/prompt-meter.ts";
import { PromptReader } from "../../src/analysis/play/prompt-reader.ts";
import { playedNonce } from "../../src/analysis/play/request-player.ts";
import {
  type CacheRules,
  type CacheUnit,
  type PlayedPrompt,
  promptAfter,
  SimulatedCache,
} from "../../src/analysis/play/simulated-cache.ts";
import { shownNames, UnitNames } from "../../src/analysis/play/unit-names.ts";
import { type SizedPromptUnit, UnitSizer } from "../../src/analysis/play/unit-sizer.ts";
import { must } from "../../src/base/index.ts";
import { commandTools } from "../../src/commands/index.ts";
import { unknownPrices } from "../../src/config/prices.ts";
import { instructions } from "../../src/notes/index.ts";
import { protocolOf, type WireRequest } from "../../src/protocols/index.ts";
import { estimateText } from "../../src/tokens/index.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

test("the benchmark has the assumptions of the product", () => {
  expect(readAssumptions()).toEqual(assumptions);
});

const rules: CacheRules = {
  kind: "marks",
  tokensMin: 100,
  stepTokens: 1,
  marksMax: 4,
  lookBack: 20,
  lifetimeMs: 300_000,
};

/** `a b! c` are three units of 100 tokens, the second of them marked; a call is `a(`, a result `a)`. */
function prompt(text: string): readonly CacheUnit[] {
  return text.split(" ").map((word) => ({
    key: word.replace("!", ""),
    tokens: 100,
    isMarked: word.endsWith("!"),
    isUser: word.startsWith("u"),
    run: word.includes("(") ? "call" : word.includes(")") ? "result" : null,
  }));
}

/** The read, written and fresh tokens of each prompt, one second apart. */
function bills(rule: Partial<CacheRules>, ...prompts: readonly (string | number)[]): readonly string[] {
  const cache = new SimulatedCache({ ...rules, ...rule });
  let timeMs = 0;
  let before: PlayedPrompt | null = null;
  const said: string[] = [];
  for (const one of prompts) {
    timeMs += typeof one === "number" ? one : 1_000;
    if (typeof one === "number") continue;
    before = promptAfter(before, prompt(one));
    const { read, written, fresh } = cache.send(before, timeMs);
    said.push(`${read} ${written} ${fresh}`);
  }
  return said;
}

test("a marked prefix is written, and read when a later mark finds it", () => {
  expect(bills({}, "s! a b! c", "s! a b d e!")).toEqual(["0 300 100", "300 200 0"]);
});

test("a prefix that was never marked is not read", () => {
  expect(bills({}, "a b c", "a b c d!", "a b c d e!")).toEqual(["0 0 300", "0 400 0", "400 100 0"]);
});

test("after a change the prefix up to the last mark before it is read, and the rest is written", () => {
  expect(bills({}, "s! a b!", "s! x b!")).toEqual(["0 300 0", "100 200 0"]);
});

test("a mark looks back twenty positions, and a run of results is one of them", () => {
  const words = (count: number, sign: string): string =>
    Array.from({ length: count }, (_, at) => `${at}${sign}`).join(" ");
  expect(bills({}, "a!", `a ${words(19, "")}!`)[1]).toBe("100 1900 0");
  expect(bills({}, "a!", `a ${words(20, "")}!`)[1]).toBe("0 2100 0");
  expect(bills({}, "a!", `a ${words(40, ")")}!`)[1]).toBe("100 4000 0");
});

test("a cached prefix expires, and reading it extends its lifetime", () => {
  expect(bills({}, "a!", 300_000, "a b!")[1]).toBe("0 200 0");
  expect(bills({}, "a!", 200_000, "a b!", 200_000, "a b c!")[2]).toBe("200 100 0");
});

test("a prompt that is too short is not cached", () => {
  expect(bills({ tokensMin: 250 }, "a b!", "a b!", "a b c!", "a b c d!")).toEqual([
    "0 0 200",
    "0 0 200",
    "0 300 0",
    "300 100 0",
  ]);
});

test("with prefix caching the longest prefix is read in whole steps, and writing is free", () => {
  const prefix = { kind: "prefix", stepTokens: 128, lookBack: null } as const;
  expect(bills(prefix, "a b c", "a b c d", "a x")).toEqual(["0 0 300", "228 0 172", "100 0 100"]);
});

test("with breakpoints the prompt is written up to the last user message", () => {
  const breakpoints = { kind: "breakpoints", lookBack: 80 } as const;
  expect(bills(breakpoints, "u1 t", "u1 a u2 t")).toEqual(["0 100 100", "100 200 100"]);
});

test("without a cache all tokens are fresh", () => {
  expect(bills({ kind: "none" }, "a b!", "a b!")).toEqual(["0 0 200", "0 0 200"]);
});

/** `role:text`, `call:id:text` or `result:id:text`; a note of ours begins with `own:`. */
function units(...said: readonly string[]): readonly SizedPromptUnit[] {
  return said.map((one) => {
    const [kind = "", ...rest] = one.split(":");
    const isTool = kind === "call" || kind === "result";
    const role = kind === "call" ? "assistant" : kind === "result" || kind === "own" ? "user" : kind;
    return {
      key: one,
      bare: one,
      role,
      kind: kind === "call" ? "tool-call" : kind === "result" ? "tool-result" : "user",
      text: rest.slice(isTool ? 1 : 0).join(":"),
      callId: isTool ? (rest[0] ?? "") : null,
      own: kind === "own" ? "tail" : null,
      tokens: 100,
      isMarked: false,
      isUser: role === "user",
      run: kind === "call" || kind === "result" ? kind : null,
    };
  });
}

const asked = "user:please look";
const result = "result:1:open src/read_config.ts\nthen call parseAll()\ndone";

function missed(shown: readonly string[], used: readonly string[]): readonly string[] {
  const watch = new MissDetector(new UnitNames());
  const client = promptAfter(null, units(asked, result));
  return watch.missedNames({
    client,
    upstream: promptAfter(null, units(asked, ...shown)),
    used: new Set(used),
  });
}

test("a name is missed if the client's text has it and the prompt does not show it", () => {
  const used = ["read_config.ts", "parseAll", "nobodySaidThis"];
  expect(missed([result], used)).toEqual([]);
  expect(missed(["result:1:left out"], used)).toEqual(["read_config.ts", "parseAll"]);
  expect(missed(["result:1:left out\nthen call parseAll()"], used)).toEqual(["read_config.ts"]);
});

test("a name in a note of ours or in an invented line does not count as shown", () => {
  expect(missed(["own:[k7f3 parseAll]"], ["parseAll"])).toEqual(["parseAll"]);
  expect(missed(["result:1:left out: parseAll"], ["parseAll"])).toEqual(["parseAll"]);
});

test("a name that another block shows is not missed", () => {
  const watch = new MissDetector(new UnitNames());
  const again = "result:2:then call parseAll()";
  const client = promptAfter(null, units(asked, result, again));
  const upstream = promptAfter(null, units(asked, "result:1:see the next one", again));
  expect(watch.missedNames({ client, upstream, used: new Set(["parseAll"]) })).toEqual([]);
});

test("a piece of an over-long line shows the names in it", () => {
  const long = `${"words that nobody needs, ".repeat(10)}then it calls parseAll for every row of the table`;
  const piece = "... it calls parseAll for every row of the table";
  expect([...shownNames(piece, long)]).toEqual(["parseAll"]);
  expect([...shownNames("... parseAll ...", long)]).toEqual([]);
  expect([...shownNames(piece, "a short line\nit calls parseAll")]).toEqual([]);
});

test("a missed name is charged once, and its excerpt is carried until the client drops its history", () => {
  const charge = new ExpandCharge(50);
  const bill = { read: 900, written: 100, fresh: 0 };
  expect(charge.bill(bill, [])).toEqual({ read: 0, written: 0, fresh: 0 });
  expect(charge.bill(bill, ["parseAll"])).toEqual({ read: 1_000, written: 50, fresh: 0 });
  expect(charge.stillMissed(["parseAll", "readAll"])).toEqual(["readAll"]);
  expect(charge.bill(bill, [])).toEqual({ read: 50, written: 0, fresh: 0 });
  expect(charge.bill({ ...bill, read: 0 }, [])).toEqual({ read: 0, written: 50, fresh: 0 });
  charge.reset();
  expect(charge.stillMissed(["parseAll"])).toEqual(["parseAll"]);
  expect(charge.bill(bill, [])).toEqual({ read: 0, written: 0, fresh: 0 });
});

/** A request to a model that accepts a dropped tail, or to one that does not. */
function wire(model: string): WireRequest {
  const body = { model, messages: [{ role: "user", content: "please look" }] };
  return must(readRequest(Buffer.from(JSON.stringify(body)), null), "it is a request");
}

type Said = readonly string[];

function breaks(model: string, ...requests: readonly (readonly [Said, Said])[]): readonly boolean[] {
  const watch = new BreakDetector();
  let [before, sent]: (PlayedPrompt<SizedPromptUnit> | null)[] = [null, null];
  return requests.map(([client, upstream]) => {
    before = promptAfter(before ?? null, units(...client));
    sent = promptAfter(sent ?? null, units(...upstream));
    return watch.check({ client: before, upstream: sent, sent: wire(model) }).isBreak;
  });
}

test("a break is a request that does not continue the one before although the client's does", () => {
  const [one, two] = [[asked], [asked, result]];
  expect(breaks("claude-opus-4-5", [one, one], [two, two])).toEqual([false, false]);
  expect(breaks("claude-opus-4-5", [two, two], [two, [asked, "result:1:short"]])).toEqual([false, true]);
  expect(breaks("claude-opus-4-5", [two, two], [one, ["user:again"]])).toEqual([false, false]);
});

test("a tail may be dropped in the next request, unless the model binds its prefix", () => {
  const first = [[asked], [asked, "own:[k7f3]"]] as const;
  const second = [
    [asked, result],
    [asked, result],
  ] as const;
  expect(breaks("claude-opus-4-5", first, second)).toEqual([false, false]);
  expect(breaks("claude-opus-5-5", first, second)).toEqual([false, true]);
});

function clientStream(...answers: readonly string[]): ClientStream {
  const requests = answers.map((answer, at) => ({
    units: units(asked, ...Array.from({ length: at + 1 }, (_, nth) => `result:${nth}:name_of_${nth}`)),
    timeMs: at * 1_000,
    used: new Set(answer === "" ? [] : [answer]),
    isExtension: true,
  }));
  const prices = { ...unknownPrices, rule: { ...unknownPrices.rule, tokensMin: 1 } };
  return { requests, prices, unitNames: new UnitNames(), placeholder: 1, excerpt: 10 };
}

test("with foresight a result leaves after its last use, and nothing is missed", () => {
  const stream = clientStream("", "", "name_of_0", "", "");
  const played = pruneResults(stream, oracle(stream));
  expect(played.map(({ isMiss }) => isMiss)).toEqual([false, false, false, false, false]);
  const sizes = played.map(({ bill: { read, written, fresh } }) => read + written + fresh);
  // The first result stays until it was used, the others leave one request after they came.
  expect(sizes).toEqual([200, 300, 301, 203, 204]);
});

test("a result that leaves too early is missed once and charged", () => {
  const stream = clientStream("", "", "name_of_0", "name_of_0");
  const played = pruneResults(stream, (_, arrived) => arrived + 1);
  expect(played.map(({ isMiss }) => isMiss)).toEqual([false, false, true, false]);
  expect(played.map(({ charge }) => charge.written)).toEqual([0, 0, 10, 0]);
  expect(played.map(({ charge }) => charge.read)).toEqual([0, 0, 202, 10]);
});

test("batches wait until there is enough to leave out", () => {
  const said = `result:0:${"a long line of words. ".repeat(60)}`;
  const requests = Array.from({ length: 14 }, (_, at) => ({
    units: units(asked, said),
    timeMs: at,
    used: new Set<string>(),
    isExtension: true,
  }));
  const stream = { ...clientStream(), requests };
  const [, unit] = units(asked, said);
  expect(inBatches(1_000)(stream)(must(unit, "there are two"), 0)).toBe(10);
  expect(inBatches(2_000)(stream)(must(unit, "there are two"), 0)).toBeNull();
});

const mark = { cache_control: { type: "ephemeral" } };
const said = (text: string, marked = false) => ({ type: "text", text, ...(marked ? mark : {}) });
const clearing = (text: string) => ({
  role: "system",
  clear_at: "next_user_message",
  content: [said(text)],
});

test("a prompt that is read after another equals one that is read alone", () => {
  const options = { model: "claude-opus-5-5", ownTokens: 900, count: (text: string) => text.length };
  const sizer = new UnitSizer(options);
  const reader = new PromptReader(sizer);
  const first = [{ role: "user", content: [said("one", true)] }, clearing("[k7f3 turn 1: a]")];
  const answered = [
    { role: "user", content: "one" },
    clearing("[k7f3 turn 1: a]"),
    { role: "assistant", content: [said("two")] },
  ];
  const second = [
    ...answered,
    { role: "user", content: [said("three", true)] },
    clearing("[k7f3 turn 2: b]"),
  ];
  const edited = [{ role: "user", content: [said("other", true)] }];
  let before: WireRequest | null = null;
  for (const messages of [first, first, second, [...answered, ...edited], edited, second]) {
    const body = { system: [said("be good", true)], messages };
    const request: WireRequest = must(
      readRequest(Buffer.from(JSON.stringify(body)), before),
      "it is a request",
    );
    before = request;
    const { units, marks } = reader.read(request);
    const alone = new PromptReader(new UnitSizer(options)).read(request);
    expect(units.map(({ key }) => key)).toEqual(alone.units.map(({ key }) => key));
    expect(marks).toEqual(alone.marks);
  }
});

test("a self-clearing message counts after the last user message and costs nothing afterwards", () => {
  const reader = new PromptReader(
    new UnitSizer({ model: "claude-opus-5-5", ownTokens: 900, count: (text) => text.length }),
  );
  const texts = (messages: readonly unknown[]): readonly string[] => {
    const body = Buffer.from(JSON.stringify({ messages }));
    return reader.read(must(readRequest(body, null), "it is a request")).units.map(({ text }) => text);
  };
  const first = [{ role: "user", content: "one" }, clearing("[k7f3 turn 1: a]")];
  expect(texts(first)).toEqual(["one", "[k7f3 turn 1: a]"]);
  const next = [
    { role: "assistant", content: "two" },
    { role: "user", content: "three" },
  ];
  expect(texts([...first, ...next])).toEqual(["one", "two", "three"]);
});

test("each model has its own cache", () => {
  const sizer = new UnitSizer({ model: "a", ownTokens: 900, count: (text) => text.length });
  const meter = new PromptMeter({ ...unknownPrices, rule: { ...rules, tokensMin: 1 } }, sizer);
  const messages = [{ role: "user", content: [said("a question that is some tokens long", true)] }];
  const read = (model: string, timeMs: number): readonly boolean[] => {
    const { timed, warm } = meter.send(Buffer.from(JSON.stringify({ model, messages })), timeMs).bills;
    return [timed.read > 0, warm.read > 0];
  };
  expect(read("a", 0)).toEqual([false, false]);
  expect(read("a", 1_000)).toEqual([true, true]);
  expect(read("b", 2_000)).toEqual([false, false]);
  expect(read("a", 3_000)).toEqual([true, true]);
  expect(read("b", 400_000)).toEqual([false, true]);
});

test("a call id that is used again stands for all its results", () => {
  const result = (text: string) => units(`result:one:${text}`)[0] as SizedPromptUnit;
  const watch = new MissDetector(new UnitNames());
  const [first, second] = [result("see src/lib/read_config.ts"), result("see src/lib/write_config.ts")];
  const client = promptAfter(null, [first, second]);
  const trimmed = { ...first, key: "trimmed", bare: "trimmed", text: "see src/lib/read_config.ts" };
  const upstream = promptAfter(null, [trimmed, second]);
  expect(watch.missedNames({ client, upstream, used: new Set(["src/lib/read_config.ts"]) })).toEqual([]);
});

/** Tokens of our notes in a prompt with these instructions, if a character is a token. */
function instructionTokens(told: string): number {
  const count = (text: string): number => text.length;
  const model = "claude-opus-5-5";
  const reader = new PromptReader(new UnitSizer({ model, ownTokens: 20_000, count }));
  const body = { model, messages: [{ role: "user", content: [said("one"), said(told)] }] };
  const request = must(readRequest(Buffer.from(JSON.stringify(body)), null), "it is a request");
  const own = reader.read(request).units.filter((unit) => unit.own === "instructions");
  return own.reduce((sum, { tokens }) => sum + tokens, 0);
}

test("a stream that is managed later is charged as much for instructions as one managed from the start", () => {
  const late = instructions(playedNonce, { hasTools: false });
  const first = instructions(playedNonce, { hasTools: true });
  const perChar = (text: string): number => estimateText(text, "claude-opus-5-5") / text.length;
  const tools = commandTools.reduce((sum, tool) => sum + anthropic.write.tool(tool).length, 0);
  expect(instructionTokens(late)).toBe(Math.ceil(20_000 * perChar(late)));
  expect(instructionTokens(first)).toBe(Math.ceil((20_000 - tools) * perChar(first)));
  expect(instructionTokens("something else")).toBe(0);
});
