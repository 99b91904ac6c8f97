import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockId, limits, turnOf } from "../base/index.ts";
import type { BlockKind } from "../engine/index.ts";
import { LexicalIndex } from "./lexical-index.ts";
import type { RecallSource } from "./recall-index.ts";

function sourceOf(id: number, text: string, more: Partial<RecallSource> = {}): RecallSource {
  const kind: BlockKind = "tool-result";
  return { block: blockId(id), kind, turn: turnOf(id), speaker: "client", text, ...more };
}

function indexOf(texts: readonly string[]): LexicalIndex {
  const index = new LexicalIndex({ seed: 7 });
  for (const [at, text] of texts.entries()) index.add(sourceOf(at + 1, text));
  return index;
}

const asked = { max: 5, now: turnOf(100) };
const found = (index: LexicalIndex, query: string) =>
  index.find(query, asked).map(({ block }) => Number(block));

describe("find", () => {
  const index = indexOf([
    "export function parseRequestBody(bytes) { return bytes; }",
    "the request had a body that nobody could parse",
    "src/render/names.ts:12: const names = namesIn(text)",
    "src/levels/names.ts:40: render the names of src",
    "retries are limited to 17, max_retry_count is read from settings.toml",
    "Wir haben über die Größe des Fensters gesprochen",
    "黒猫が庭で寝ている",
    "",
  ]);

  test.each([
    ["parseRequestBody", 1],
    ["parse_request_body", 1],
    ["src/render/names.ts", 3],
    ["levels/names.ts", 4],
    ["max_retry_count", 5],
    ["maxRetryCount", 5],
    ["17", 5],
    ["settings.toml", 5],
    ["GRÖSSE größe", 6],
    ["GRO\u0308ßE", 6],
    ["黒猫", 7],
    ["庭", 7],
  ])("%s", (query, block) => {
    expect(found(index, query)[0]).toBe(block);
  });

  test("a question without a word, or whose words stand nowhere, finds nothing", () => {
    for (const query of ["", " ?! ", "x", "unheard", "\ud83d"]) expect(found(index, query)).toEqual([]);
  });

  test("a name is found before the words it is made of", () => {
    expect(found(index, "parseRequestBody")).toEqual([1, 2]);
  });

  test("who said it is found as well", () => {
    const talk = indexOf(["hello there"]);
    talk.add(sourceOf(9, "good morning", { speaker: "Caroline" }));
    expect(talk.find("Caroline", asked)).toMatchObject([
      { block: 9, excerpt: { text: "good morning", from: 0 } },
    ]);
  });

  test("of two that say the same the later comes first, and a result before its call", () => {
    expect(found(indexOf(["read_config is here", "read_config is here"]), "read_config")).toEqual([2, 1]);
    const pair = indexOf(["read_config is here"]);
    pair.add(sourceOf(2, "read_config is here", { kind: "tool-call" }));
    expect(found(pair, "read_config")).toEqual([1, 2]);
  });

  test("no more than is wanted, and never more than an answer may have", () => {
    const many = indexOf(Array.from({ length: 200 }, () => "the same_words again"));
    expect(many.find("same_words", { ...asked, max: 3 })).toHaveLength(3);
    expect(many.find("same_words", { ...asked, max: 0 })).toEqual([]);
    expect(many.find("same_words", { ...asked, max: 1_000 })).toHaveLength(limits.recallHitsMax);
  });

  test("the excerpt shows the place, in the bounds that were asked for", () => {
    const text = `${"filler line\n".repeat(500)}const wanted_name = 1;\n${"filler line\n".repeat(500)}`;
    const [hit] = indexOf([text]).find("wanted_name", { ...asked, excerptChars: 80 });
    expect(hit?.excerpt).toMatchObject({ line: 499, isWhole: false });
    expect(hit?.excerpt.text).toContain("const wanted_name = 1;");
    expect(hit?.excerpt.text.length).toBeLessThanOrEqual(80);
  });
});

describe("topic", () => {
  const index = indexOf([
    "auth flow of auth.ts",
    "the auth module",
    "flow control",
    "auth and the flow, flow, flow",
  ]);

  test("every word has to stand in the block", () => {
    expect(new Set(index.topic("auth flow").map(Number))).toEqual(new Set([1, 4]));
    expect(index.topic("auth.ts").map(Number)).toEqual([1]);
    expect(index.topic("auth unheard")).toEqual([]);
    expect(index.topic("")).toEqual([]);
  });

  test("blocks that have one of the words often do not displace those that have all", () => {
    const some = (id: number) => (id % 3 === 0 ? "flow ".repeat(9) : "auth ".repeat(9));
    const many = indexOf(Array.from({ length: 1_200 }, (_, at) => some(at)));
    for (const id of [2_001, 2_002]) many.add(sourceOf(id, `auth ${"filler ".repeat(400)} flow`));
    expect(new Set(many.topic("auth flow").map(Number))).toEqual(new Set([2_001, 2_002]));
  });

  test("one character of a language without blanks is a topic", () => {
    expect(indexOf(["黒猫", "犬"]).topic("猫").map(Number)).toEqual([1]);
  });

  test("it is bounded", () => {
    const many = indexOf(Array.from({ length: 300 }, () => "auth"));
    expect(many.topic("auth")).toHaveLength(limits.recallTopicBlocksMax);
  });
});

describe("bounds", () => {
  test("what was added first is forgotten first", () => {
    const index = new LexicalIndex({ bytesMax: 40_000 });
    for (let id = 1; id <= 500; id += 1) {
      index.add(sourceOf(id, `unique_${id} ${"some words ".repeat(20)}`));
      expect(index.bytes).toBeLessThanOrEqual(40_000);
    }
    expect(index.size).toBeGreaterThan(10);
    expect(found(index, "unique_500")[0]).toBe(500);
    expect(index.topic("unique_1")).toEqual([]);
  });

  test("of a very long block the beginning is known", () => {
    const index = indexOf([`early_name ${"x ".repeat(limits.recallBlockCharsMax)} zebra_stripes`]);
    expect(found(index, "early_name")).toEqual([1]);
    expect(found(index, "zebra_stripes")).toEqual([]);
  });

  test("a block that alone is too large is not kept", () => {
    const index = new LexicalIndex({ bytesMax: 1_000 });
    index.add(sourceOf(1, "word ".repeat(1_000)));
    expect([index.size, index.bytes < 1_000]).toEqual([0, true]);
  });
});

const words = ["auth", "flow", "readFile", "read_file", "src/a.ts", "猫", "Größe", "17", "x"];
const texts = fc.array(fc.constantFrom(...words, "\n"), { maxLength: 12 }).map((some) => some.join(" "));
type Act = { readonly id: number; readonly text: string | null };
const acts = fc.array(
  fc.record({ id: fc.integer({ min: 1, max: 12 }), text: fc.option(texts, { freq: 3 }) }),
  { maxLength: 60 },
);

test("after any adding and forgetting it answers like one that only ever knew what is left", () => {
  fc.assert(
    fc.property(acts, fc.constantFrom(...words, "auth flow readFile"), (some: readonly Act[], query) => {
      const [index, left] = [new LexicalIndex({ seed: 7 }), new Map<number, string>()];
      for (const { id, text } of some) {
        left.delete(id);
        if (text === null) index.forget(blockId(id));
        else index.add(sourceOf(id, text));
        if (text !== null) left.set(id, text);
      }
      const fresh = new LexicalIndex({ seed: 7 });
      for (const [id, text] of left) fresh.add(sourceOf(id, text));
      expect(index.find(query, asked)).toEqual(fresh.find(query, asked));
      expect(index.topic(query)).toEqual(fresh.topic(query));
      expect(index.size).toBe(left.size);
    }),
    { numRuns: 300 },
  );
});

test("sweeping out what was forgotten changes no answer", () => {
  const text = (id: number) => Array.from({ length: 40 }, (_, at) => `name_${(id * 7 + at) % 900}`).join(" ");
  const [index, fresh] = [new LexicalIndex({ seed: 7 }), new LexicalIndex({ seed: 7 })];
  for (let id = 1; id <= 1_000; id += 1) index.add(sourceOf(id, text(id)));
  const before = index.bytes;
  for (let id = 1; id <= 900; id += 1) index.forget(blockId(id));
  expect(index.bytes).toBeLessThan(before / 3);
  for (let id = 901; id <= 1_000; id += 1) fresh.add(sourceOf(id, text(id)));
  for (const query of ["name_3", "name_10 name_400", "name_899"]) {
    expect(index.find(query, asked)).toEqual(fresh.find(query, asked));
  }
});

test("two seeds find the same", () => {
  const some = Array.from({ length: 60 }, (_, at) => `name_${at} ${words[at % words.length]} name_${at % 7}`);
  const [one, other] = [1, 99].map((seed) => {
    const index = new LexicalIndex({ seed });
    for (const [at, text] of some.entries()) index.add(sourceOf(at + 1, text));
    return index;
  });
  for (const query of [...words, "name_3 auth"]) {
    expect(one?.find(query, asked)).toEqual(other?.find(query, asked));
  }
});

test("words that stand in every block change neither which blocks are found nor their order by score", () => {
  const index = new LexicalIndex({ seed: 7 });
  const text = (id: number) => `common words here name_${id % 50} ${"filler ".repeat(id % 9)}`;
  for (let id = 1; id <= 2_000; id += 1) index.add(sourceOf(id, text(id)));
  const hits = index.find("common words name_7", { max: 40, now: turnOf(2_000) });
  expect(hits).toHaveLength(40);
  expect(hits.every(({ block }) => block % 50 === 7)).toBe(true);
  expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
  // Asked for so many that nothing may be left out, the first are the same with the same scores.
  const few = index.find("common words name_7", { max: 3, now: turnOf(2_000) });
  expect(few).toEqual(hits.slice(0, 3));
});
