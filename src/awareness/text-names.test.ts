import fc from "fast-check";
import { expect, test } from "vitest";
import { holdsName, namesIn, nameTokens } from "./text-names.ts";

const named = (text: string, max?: number) => namesIn(text, max).map(({ name }) => name);

test("paths, snake_case, camelCase, dotted and numbered names of eight characters or more are names", () => {
  const text =
    "Read src/notes/names.ts and ~/.config/tool/settings, then call read_config, parseRequest(x), " +
    "strings.TrimPrefix, issue-1234x or deadbeef01 at https://example.com/a/b.";
  expect(named(text)).toEqual([
    "src/notes/names.ts",
    "~/.config/tool/settings",
    "read_config",
    "parseRequest",
    "strings.TrimPrefix",
    "issue-1234x",
    "deadbeef01",
    "example.com/a/b",
  ]);
});

test("plain words, short names, numbers and moments in time are not", () => {
  const text =
    "Something well-known: a.b, fooBar, 1234567890, 2026-11-16T10:05:00Z, Capitalised, 10.000.000ms";
  expect(named(text)).toEqual([]);
});

test("signs at either end are not part of a name, but the slash of a path and the dot of a file are", () => {
  expect(
    named("--flag.name, ./src/a-file.ts. ../up/one_file, /usr/lib/x, .github/flows; //host.name/x"),
  ).toEqual(["flag.name", "src/a-file.ts", "up/one_file", "/usr/lib/x", ".github/flows", "host.name/x"]);
});

test("names come in the order of their first place, with their count", () => {
  expect(namesIn("second_one first_one second_one")).toEqual([
    { name: "second_one", count: 2 },
    { name: "first_one", count: 1 },
  ]);
});

test("of too many names those that repeat are kept, in their order", () => {
  expect(named("name_one name_two name_three name_three name_four name_one", 3)).toEqual([
    "name_one",
    "name_two",
    "name_three",
  ]);
  expect(named("name_one", 0)).toEqual([]);
});

test("every name stands in the text, is bounded, and is found in its own text", () => {
  const piece = fc.constantFrom(
    "a",
    "Bc",
    "9",
    "_",
    ".",
    "/",
    "-",
    "~",
    "@",
    "$",
    " ",
    "é",
    "word",
    "\n",
    "(",
  );
  const texts = fc.array(piece, { maxLength: 200 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(texts, (text) => {
      for (const { name, count } of namesIn(text)) {
        expect(name.length).toBeGreaterThanOrEqual(8);
        expect(name.length).toBeLessThanOrEqual(160);
        expect(count).toBeGreaterThan(0);
        expect(text).toContain(name);
        expect(named(name)).toContain(name);
        expect(nameTokens(name)).toBeGreaterThanOrEqual(1);
      }
    }),
  );
});

test("huge lines of one kind take time in proportion to their length", () => {
  for (const unit of ["a", "aB", "a_", "/", "./", "a.", "9", "-", "~/.", "\u{1f600}"]) {
    expect(named(unit.repeat(1_000_000))).toEqual([]);
  }
  const many = Array.from({ length: 100_000 }, (_, index) => `name_${index}`).join(" ");
  expect(named(many)).toHaveLength(256);
});

test("a name is held where it stands as a word or as part of a path, not inside another word", () => {
  expect(holdsName("src/notes/names.ts", "names.ts")).toBe(true);
  expect(holdsName("src/notes/names.ts", "notes/names")).toBe(true);
  expect(holdsName("store.readRecord", "readRecord")).toBe(true);
  expect(holdsName("readRecords", "readRecord")).toBe(false);
  expect(holdsName("readRecords and readRecord", "readRecord")).toBe(true);
});

test("a name costs about a token for each of its words", () => {
  expect(nameTokens("borderMuted")).toBeCloseTo(1.6, 0);
  expect(nameTokens("packages/tui/src/components/markdown.ts")).toBeCloseTo(9.6, 0);
});
