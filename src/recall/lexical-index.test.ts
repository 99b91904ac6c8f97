import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { blockId, limits, turnOf } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";
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

const options = { max: 5, now: turnOf(100) };
const foundBlocks = (index: LexicalIndex, query: string) =>
  index.find(query, options).map(({ block }) => Number(block));

describe("find", () => {
  const index = indexOf([
    "export function parseRequestBody(bytes) { return bytes; }",
    "the request had a body that nobody could parse",
    "src/notes/names.ts:12: const names = namesIn(text)",
    "src/levels/names.ts:40: render the names of src",
    "retries are limited to 17, max_retry_count is read from settings.toml",
    "Wir haben über die Größe des Fensters gesprochen",
    "黒猫が庭で寝ている",
    "",
  ]);

  test.each([
    ["parseRequestBody", 1],
    ["parse_request_body", 1],
    ["src/notes/names.ts", 3],
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
    expect(foundBlocks(index, query)[0]).toBe(block);
  });

  test("a query without words, or with unknown words, finds nothing", () => {
    for (const query of ["", " ?! ", "x", "unheard", "\ud83d"]) expect(foundBlocks(index, query)).toEqual([]);
  });

  test("a block with the name comes before one with its words", () => {
    expect(foundBlocks(index, "parseRequestBody")).toEqual([1, 2]);
  });

  test("a block is found by its speaker", () => {
    const bySpeaker = indexOf(["hello there"]);
    bySpeaker.add(sourceOf(9, "good morning", { speaker: "Caroline" }));
    expect(bySpeaker.find("Caroline", options)).toMatchObject([
      { block: 9, excerpt: { text: "good morning", from: 0 } },
    ]);
  });

  test("of two equal texts the later comes first, and a result comes before its call", () => {
    expect(foundBlocks(indexOf(["read_config is here", "read_config is here"]), "read_config")).toEqual([
      2, 1,
    ]);
    const pair = indexOf(["read_config is here"]);
    pair.add(sourceOf(2, "read_config is here", { kind: "tool-call" }));
    expect(foundBlocks(pair, "read_config")).toEqual([1, 2]);
  });

  test("there are no more hits than requested, and never more than the limit", () => {
    const many = indexOf(Array.from({ length: 200 }, () => "the same_words again"));
    expect(many.find("same_words", { ...options, max: 3 })).toHaveLength(3);
    expect(many.find("same_words", { ...options, max: 0 })).toEqual([]);
    expect(many.find("same_words", { ...options, max: 1_000 })).toHaveLength(limits.recallHitsMax);
  });

  test("the excerpt shows the match within the requested length", () => {
    const text = `${"filler line\n".repeat(500)}const wanted_name = 1;\n${"filler line\n".repeat(500)}`;
    const [hit] = indexOf([text]).find("wanted_name", { ...options, excerptChars: 80 });
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

  test("a block must contain every word", () => {
    expect(new Set(index.findTopic("auth flow").map(Number))).toEqual(new Set([1, 4]));
    expect(index.findTopic("auth.ts").map(Number)).toEqual([1]);
    expect(index.findTopic("auth unheard")).toEqual([]);
    expect(index.findTopic("")).toEqual([]);
  });

  test("blocks that repeat one word do not displace those with all words", () => {
    const some = (id: number) => (id % 3 === 0 ? "flow ".repeat(9) : "auth ".repeat(9));
    const many = indexOf(Array.from({ length: 1_200 }, (_, at) => some(at)));
    for (const id of [2_001, 2_002]) many.add(sourceOf(id, `auth ${"filler ".repeat(400)} flow`));
    expect(new Set(many.findTopic("auth flow").map(Number))).toEqual(new Set([2_001, 2_002]));
  });

  test("one character of a language without spaces is a topic", () => {
    expect(indexOf(["黒猫", "犬"]).findTopic("猫").map(Number)).toEqual([1]);
  });

  test("the number of blocks is limited", () => {
    const many = indexOf(Array.from({ length: 300 }, () => "auth"));
    expect(many.findTopic("auth")).toHaveLength(limits.recallTopicBlocksMax);
  });
});

describe("limits", () => {
  test("the blocks added first are dropped first", () => {
    const index = new LexicalIndex({ bytesMax: 40_000 });
    for (let id = 1; id <= 500; id += 1) {
      index.add(sourceOf(id, `unique_${id} ${"some words ".repeat(20)}`));
      expect(index.bytes).toBeLessThanOrEqual(40_000);
    }
    expect(index.size).toBeGreaterThan(10);
    expect(foundBlocks(index, "unique_500")[0]).toBe(500);
    expect(index.findTopic("unique_1")).toEqual([]);
  });

  test("only the beginning of a very long block is indexed", () => {
    const index = indexOf([`early_name ${"x ".repeat(limits.recallBlockCharsMax)} zebra_stripes`]);
    expect(foundBlocks(index, "early_name")).toEqual([1]);
    expect(foundBlocks(index, "zebra_stripes")).toEqual([]);
  });

  test("a block larger than the whole memory is not kept", () => {
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

test("after any additions and removals the index answers like a new one with the same blocks", () => {
  fc.assert(
    fc.property(acts, fc.constantFrom(...words, "auth flow readFile"), (some: readonly Act[], query) => {
      const [index, left] = [new LexicalIndex({ seed: 7 }), new Map<number, string>()];
      for (const { id, text } of some) {
        left.delete(id);
        if (text === null) index.remove(blockId(id));
        else index.add(sourceOf(id, text));
        if (text !== null) left.set(id, text);
      }
      const fresh = new LexicalIndex({ seed: 7 });
      for (const [id, text] of left) fresh.add(sourceOf(id, text));
      expect(index.find(query, options)).toEqual(fresh.find(query, options));
      expect(index.findTopic(query)).toEqual(fresh.findTopic(query));
      expect(index.size).toBe(left.size);
    }),
    { numRuns: 300 },
  );
});

test("a sweep of removed blocks changes no answer", () => {
  const text = (id: number) => Array.from({ length: 40 }, (_, at) => `name_${(id * 7 + at) % 900}`).join(" ");
  const [index, fresh] = [new LexicalIndex({ seed: 7 }), new LexicalIndex({ seed: 7 })];
  for (let id = 1; id <= 1_000; id += 1) index.add(sourceOf(id, text(id)));
  const before = index.bytes;
  for (let id = 1; id <= 900; id += 1) index.remove(blockId(id));
  expect(index.bytes).toBeLessThan(before / 3);
  for (let id = 901; id <= 1_000; id += 1) fresh.add(sourceOf(id, text(id)));
  for (const query of ["name_3", "name_10 name_400", "name_899"]) {
    expect(index.find(query, options)).toEqual(fresh.find(query, options));
  }
});

test("indexes with different seeds find the same", () => {
  const some = Array.from({ length: 60 }, (_, at) => `name_${at} ${words[at % words.length]} name_${at % 7}`);
  const [one, other] = [1, 99].map((seed) => {
    const index = new LexicalIndex({ seed });
    for (const [at, text] of some.entries()) index.add(sourceOf(at + 1, text));
    return index;
  });
  for (const query of [...words, "name_3 auth"]) {
    expect(one?.find(query, options)).toEqual(other?.find(query, options));
  }
});

test("words that occur in every block change neither the hits nor their order", () => {
  const index = new LexicalIndex({ seed: 7 });
  const text = (id: number) => `common words here name_${id % 50} ${"filler ".repeat(id % 9)}`;
  for (let id = 1; id <= 2_000; id += 1) index.add(sourceOf(id, text(id)));
  const hits = index.find("common words name_7", { max: 40, now: turnOf(2_000) });
  expect(hits).toHaveLength(40);
  expect(hits.every(({ block }) => block % 50 === 7)).toBe(true);
  expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).sort((a, b) => b - a));
  // With a smaller limit, for which terms are skipped, the first hits and scores are the same.
  const few = index.find("common words name_7", { max: 3, now: turnOf(2_000) });
  expect(few).toEqual(hits.slice(0, 3));
});
