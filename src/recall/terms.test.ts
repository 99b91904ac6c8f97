import fc from "fast-check";
import { expect, test } from "vitest";
import { foldTerm, nameTerm, pairTerm, partTerm, pieceTerm, TermReader, wordTerm } from "./terms.ts";

const kindNames = new Map([
  [wordTerm, "word"],
  [nameTerm, "name"],
  [pairTerm, "pair"],
  [partTerm, "part"],
  [pieceTerm, "piece"],
]);

function read(text: string): TermReader {
  const terms = new TermReader(7);
  terms.read(text);
  return terms;
}

const spans = (terms: TermReader) =>
  terms.starts.map((from, at) => ({ from, to: terms.ends[at] as number, hash: terms.hashes[at] as number }));

/** The terms as `readFile:name`, in the order they are read. */
function shown(text: string): readonly string[] {
  const terms = read(text);
  return spans(terms).map(
    ({ from, to }, at) => `${text.slice(from, to)}:${kindNames.get(terms.kinds[at] as number)}`,
  );
}

test("words are terms, single letters are not", () => {
  expect(shown("I saw 12 a cats, x")).toEqual(["saw:word", "12:word", "cats:word"]);
});

test("a name has its pieces", () => {
  expect(shown("readFile")).toEqual(["readFile:name", "read:piece", "File:piece"]);
  expect(shown("HTTPServer2")).toEqual(["HTTPServer2:name", "HTTP:piece", "Server2:piece"]);
  expect(shown("__max_retry_count")).toEqual([
    "__max_retry_count:name",
    "max:piece",
    "retry:piece",
    "count:piece",
  ]);
  expect(shown("sha256 Readme")).toEqual(["sha256:name", "Readme:word"]);
});

test("neighbours in a path, a dotted name and a number are pairs", () => {
  expect(shown("src/notes/names.ts")).toEqual([
    "src:part",
    "notes:part",
    "src/notes:pair",
    "names:part",
    "notes/names:pair",
    "ts:part",
    "names.ts:pair",
  ]);
  expect(shown("std::sort")).toEqual(["std:part", "sort:part", "std::sort:pair"]);
  expect(shown("one...two, three")).toEqual(["one:word", "two:word", "three:word"]);
  expect(shown("3.14")).toEqual(["14:part", "3.14:pair"]);
});

test("languages without spaces are read by characters and pairs of neighbours", () => {
  expect(shown("黒猫が")).toEqual(["黒:piece", "猫:piece", "黒猫:word", "が:piece", "猫が:word"]);
  expect(shown("𠀀𠀁")).toEqual(["𠀀:piece", "𠀁:piece", "𠀀𠀁:word"]);
  expect(shown("cat猫cat")).toEqual(["cat:word", "猫:piece", "cat:word"]);
});

test("words of other alphabets are terms, symbols are not", () => {
  expect(shown("Größe Привет שלום 😀 naïve")).toEqual([
    "Größe:word",
    "Привет:word",
    "שלום:word",
    "naïve:word",
  ]);
});

test.each([
  ["readFile", "read_file"],
  ["READ_FILE", "readfile"],
  ["naïve", "NAI\u0308VE"],
  ["ﬁle", "File"],
  ["ПРИВЕТ", "привет"],
])("%s and %s are one term", (one, other) => {
  expect(read(one).hashes[0]).toBe(read(other).hashes[0]);
});

test("pairs are equal whatever sign is between them", () => {
  expect(read("pkg/mod").hashes).toEqual(read("pkg.mod").hashes);
  expect(read("pkg/mod").hashes).not.toEqual(read("mod/pkg").hashes);
});

const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc
    .array(
      fc.constantFrom("a", "Bc", "9", "_", ".", "/", "é", "e\u0301", "猫", "𠀀", "😀", "\ud83d", " ", "\n"),
      {
        maxLength: 40,
      },
    )
    .map((parts) => parts.join("")),
);

test("terms lie inside the text and split no character; terms that fold alike share a hash", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const known = new Map<string, number>();
      const terms = read(text);
      for (const [at, { from, to, hash }] of spans(terms).entries()) {
        expect(from >= 0 && from < to && to <= text.length).toBe(true);
        expect(text.slice(from, to)).not.toMatch(/\p{Surrogate}/u);
        const key = `${terms.kinds[at] === pairTerm} ${foldTerm(text, { from, to })}`;
        expect(known.get(key) ?? hash).toBe(hash);
        known.set(key, hash);
      }
    }),
    { numRuns: 500 },
  );
});

test("reading a text leaves no terms of the text before", () => {
  fc.assert(
    fc.property(anyText, anyText, (one, other) => {
      const terms = new TermReader(7);
      terms.read(one);
      terms.read(other);
      expect(spans(terms)).toEqual(spans(read(other)));
    }),
  );
});

test("another seed gives other hashes", () => {
  const terms = new TermReader(8);
  terms.read("readFile");
  expect(terms.hashes).not.toEqual(read("readFile").hashes);
});
