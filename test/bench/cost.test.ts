// What the benchmark of cost measures with is tested here, and that it runs.
import { expect, test } from "vitest";
import { readAssumptions } from "../../bench/cost/assumptions.ts";
import { type ClientStream, inBatches, oracle, pruned } from "../../bench/cost/prune.ts";
import {
  assumptions,
  BreakWatch,
  type CacheRules,
  ExpandCharge,
  Meter,
  MissWatch,
  NameBook,
  nonce,
  type Prompt,
  PromptCache,
  PromptReader,
  type PromptUnit,
  promptAfter,
  type SizedUnit,
  Sizer,
  shownNames,
} from "../../src/analysis/index.ts";
import { must } from "../../src/base/index.ts";
import { commandTools } from "../../src/commands/index.ts";
import { unknownPrices } from "../../src/config/index.ts";
import { ingestRequest, type WireRequest } from "../../src/protocols/index.ts";
import { instructions } from "../../src/render/index.ts";
import { estimateText } from "../../src/tokens/index.ts";

test("the benchmark assumes what the product assumes", () => {
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
function prompt(text: string): readonly PromptUnit[] {
  return text.split(" ").map((word) => ({
    key: word.replace("!", ""),
    tokens: 100,
    isMarked: word.endsWith("!"),
    isUser: word.startsWith("u"),
    run: word.includes("(") ? "call" : word.includes(")") ? "result" : null,
  }));
}

/** Read, written and fresh of each prompt, a second after the one before. */
function bills(rule: Partial<CacheRules>, ...prompts: readonly (string | number)[]): readonly string[] {
  const cache = new PromptCache({ ...rules, ...rule });
  let timeMs = 0;
  let before: Prompt | null = null;
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

test("what is marked is written, and read where a mark finds it again", () => {
  expect(bills({}, "s! a b! c", "s! a b d e!")).toEqual(["0 300 100", "300 200 0"]);
});

test("what was never marked is not read, however alike the prompts begin", () => {
  expect(bills({}, "a b c", "a b c d!", "a b c d e!")).toEqual(["0 0 300", "0 400 0", "400 100 0"]);
});

test("a changed beginning is written anew, up to the last mark before it was changed", () => {
  expect(bills({}, "s! a b!", "s! x b!")).toEqual(["0 300 0", "100 200 0"]);
});

test("a mark looks back twenty positions, and a run of results is one of them", () => {
  const words = (count: number, sign: string): string =>
    Array.from({ length: count }, (_, at) => `${at}${sign}`).join(" ");
  expect(bills({}, "a!", `a ${words(19, "")}!`)[1]).toBe("100 1900 0");
  expect(bills({}, "a!", `a ${words(20, "")}!`)[1]).toBe("0 2100 0");
  expect(bills({}, "a!", `a ${words(40, ")")}!`)[1]).toBe("100 4000 0");
});

test("what is not read in time is gone, and reading it gives it time", () => {
  expect(bills({}, "a!", 300_000, "a b!")[1]).toBe("0 200 0");
  expect(bills({}, "a!", 200_000, "a b!", 200_000, "a b c!")[2]).toBe("200 100 0");
});

test("a prompt too short is not cached", () => {
  expect(bills({ tokensMin: 250 }, "a b!", "a b!", "a b c!", "a b c d!")).toEqual([
    "0 0 200",
    "0 0 200",
    "0 300 0",
    "300 100 0",
  ]);
});

test("without marks the longest beginning is read, in whole steps, and nothing is paid for writing", () => {
  const prefix = { kind: "prefix", stepTokens: 128, lookBack: null } as const;
  expect(bills(prefix, "a b c", "a b c d", "a x")).toEqual(["0 0 300", "228 0 172", "100 0 100"]);
});

test("with breakpoints what the user said last is written", () => {
  const breakpoints = { kind: "breakpoints", lookBack: 80 } as const;
  expect(bills(breakpoints, "u1 t", "u1 a u2 t")).toEqual(["0 100 100", "100 200 100"]);
});

test("where nothing is cached all is fresh", () => {
  expect(bills({ kind: "none" }, "a b!", "a b!")).toEqual(["0 0 200", "0 0 200"]);
});

/** `role:text`, or `call:id:text` and `result:id:text`; a line of ours begins with `own:`. */
function units(...said: readonly string[]): readonly SizedUnit[] {
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
  const watch = new MissWatch(new NameBook());
  const client = promptAfter(null, units(asked, result));
  return watch.missed({ client, upstream: promptAfter(null, units(asked, ...shown)), used: new Set(used) });
}

test("a name is missed where the client's text has it and nothing that was sent shows it", () => {
  const used = ["read_config.ts", "parseAll", "nobodySaidThis"];
  expect(missed([result], used)).toEqual([]);
  expect(missed(["result:1:left out"], used)).toEqual(["read_config.ts", "parseAll"]);
  expect(missed(["result:1:left out\nthen call parseAll()"], used)).toEqual(["read_config.ts"]);
});

test("neither our own lines nor lines that nobody said show a name", () => {
  expect(missed(["own:[k7f3 parseAll]"], ["parseAll"])).toEqual(["parseAll"]);
  expect(missed(["result:1:left out: parseAll"], ["parseAll"])).toEqual(["parseAll"]);
});

test("another block that shows a name shows it", () => {
  const watch = new MissWatch(new NameBook());
  const again = "result:2:then call parseAll()";
  const client = promptAfter(null, units(asked, result, again));
  const upstream = promptAfter(null, units(asked, "result:1:see the next one", again));
  expect(watch.missed({ client, upstream, used: new Set(["parseAll"]) })).toEqual([]);
});

test("of an over-long line a piece shows what stands in it", () => {
  const long = `${"words that nobody needs, ".repeat(10)}then it calls parseAll for every row of the table`;
  const piece = "... it calls parseAll for every row of the table";
  expect([...shownNames(piece, long)]).toEqual(["parseAll"]);
  expect([...shownNames("... parseAll ...", long)]).toEqual([]);
  expect([...shownNames(piece, "a short line\nit calls parseAll")]).toEqual([]);
});

test("what is missed is asked for once, written, and carried until the client drops its history", () => {
  const charge = new ExpandCharge(50);
  const bill = { read: 900, written: 100, fresh: 0 };
  expect(charge.bill(bill, [])).toEqual({ read: 0, written: 0, fresh: 0 });
  expect(charge.bill(bill, ["parseAll"])).toEqual({ read: 1_000, written: 50, fresh: 0 });
  expect(charge.stillMissed(["parseAll", "readAll"])).toEqual(["readAll"]);
  expect(charge.bill(bill, [])).toEqual({ read: 50, written: 0, fresh: 0 });
  expect(charge.bill({ ...bill, read: 0 }, [])).toEqual({ read: 0, written: 50, fresh: 0 });
  charge.startOver();
  expect(charge.stillMissed(["parseAll"])).toEqual(["parseAll"]);
  expect(charge.bill(bill, [])).toEqual({ read: 0, written: 0, fresh: 0 });
});

/** A request to a model that takes a last text which is left out next time, or to one that does not. */
function wire(model: string): WireRequest {
  const body = { model, messages: [{ role: "user", content: "please look" }] };
  return must(ingestRequest(Buffer.from(JSON.stringify(body)), null), "it is a request");
}

type Said = readonly string[];

function breaks(model: string, ...requests: readonly (readonly [Said, Said])[]): readonly boolean[] {
  const watch = new BreakWatch();
  let [before, sent]: (Prompt<SizedUnit> | null)[] = [null, null];
  return requests.map(([client, upstream]) => {
    before = promptAfter(before ?? null, units(...client));
    sent = promptAfter(sent ?? null, units(...upstream));
    return watch.see({ client: before, upstream: sent, sent: wire(model) }).isBreak;
  });
}

test("a request breaks off where the client's goes on and what was sent does not", () => {
  const [one, two] = [[asked], [asked, result]];
  expect(breaks("claude-opus-4-5", [one, one], [two, two])).toEqual([false, false]);
  expect(breaks("claude-opus-4-5", [two, two], [two, [asked, "result:1:short"]])).toEqual([false, true]);
  expect(breaks("claude-opus-4-5", [two, two], [one, ["user:again"]])).toEqual([false, false]);
});

test("a tail may be left out next time, unless the model binds what it was sent", () => {
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
  return { requests, prices, book: new NameBook(), placeholder: 1, excerpt: 10 };
}

test("with foresight a result leaves after its last use, and nothing is missed", () => {
  const stream = clientStream("", "", "name_of_0", "", "");
  const played = pruned(stream, oracle(stream));
  expect(played.map(({ isMiss }) => isMiss)).toEqual([false, false, false, false, false]);
  const sizes = played.map(({ bill: { read, written, fresh } }) => read + written + fresh);
  // The first result stays until it was used, the others leave with the request after theirs.
  expect(sizes).toEqual([200, 300, 301, 203, 204]);
});

test("what leaves too early is missed once, and charged", () => {
  const stream = clientStream("", "", "name_of_0", "name_of_0");
  const played = pruned(stream, (_, arrived) => arrived + 1);
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

test("a prompt that is read after another is as if it were read alone", () => {
  const options = { model: "claude-opus-5-5", ownTokens: 900, count: (text: string) => text.length };
  const sizer = new Sizer(options);
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
      ingestRequest(Buffer.from(JSON.stringify(body)), before),
      "it is a request",
    );
    before = request;
    const { units, marks } = reader.read(request);
    const alone = new PromptReader(new Sizer(options)).read(request);
    expect(units.map(({ key }) => key)).toEqual(alone.units.map(({ key }) => key));
    expect(marks).toEqual(alone.marks);
  }
});

test("what clears itself is there for the last words of the user, and costs nothing afterwards", () => {
  const reader = new PromptReader(
    new Sizer({ model: "claude-opus-5-5", ownTokens: 900, count: (text) => text.length }),
  );
  const texts = (messages: readonly unknown[]): readonly string[] => {
    const body = Buffer.from(JSON.stringify({ messages }));
    return reader.read(must(ingestRequest(body, null), "it is a request")).units.map(({ text }) => text);
  };
  const first = [{ role: "user", content: "one" }, clearing("[k7f3 turn 1: a]")];
  expect(texts(first)).toEqual(["one", "[k7f3 turn 1: a]"]);
  const next = [
    { role: "assistant", content: "two" },
    { role: "user", content: "three" },
  ];
  expect(texts([...first, ...next])).toEqual(["one", "two", "three"]);
});

test("what one model has cached no other reads, and the first finds it again", () => {
  const sizer = new Sizer({ model: "a", ownTokens: 900, count: (text) => text.length });
  const meter = new Meter({ ...unknownPrices, rule: { ...rules, tokensMin: 1 } }, sizer);
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

test("a call id that is used again stands for every result it had", () => {
  const result = (text: string) => units(`result:one:${text}`)[0] as SizedUnit;
  const watch = new MissWatch(new NameBook());
  const [first, second] = [result("see src/lib/read_config.ts"), result("see src/lib/write_config.ts")];
  const client = promptAfter(null, [first, second]);
  const trimmed = { ...first, key: "trimmed", bare: "trimmed", text: "see src/lib/read_config.ts" };
  const upstream = promptAfter(null, [trimmed, second]);
  expect(watch.missed({ client, upstream, used: new Set(["src/lib/read_config.ts"]) })).toEqual([]);
});

/** Tokens of ours in a prompt that says the given instructions, where a character is a token. */
function instructionTokens(told: string): number {
  const count = (text: string): number => text.length;
  const model = "claude-opus-5-5";
  const reader = new PromptReader(new Sizer({ model, ownTokens: 20_000, count }));
  const body = { model, messages: [{ role: "user", content: [said("one"), said(told)] }] };
  const request = must(ingestRequest(Buffer.from(JSON.stringify(body)), null), "it is a request");
  const own = reader.read(request).units.filter((unit) => unit.own === "instructions");
  return own.reduce((sum, { tokens }) => sum + tokens, 0);
}

test("who joins later is charged as much for what it is told as who is told from the start", () => {
  const late = instructions(nonce, { hasTools: false });
  const first = instructions(nonce, { hasTools: true });
  const perChar = (text: string): number => estimateText(text, "claude-opus-5-5") / text.length;
  const tools = commandTools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  expect(instructionTokens(late)).toBe(Math.ceil(20_000 * perChar(late)));
  expect(instructionTokens(first)).toBe(Math.ceil((20_000 - tools) * perChar(first)));
  expect(instructionTokens("something else")).toBe(0);
});
