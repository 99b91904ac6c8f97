// VOCABULARY.md is read against the code itself: its words are used, the words it bans are not, and one name
// means one thing.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryFiles } from "../arch/files.ts";
import { mask } from "../arch/mask.ts";

type Declaration = {
  readonly name: string;
  readonly kind: string;
  readonly isExported: boolean;
  readonly where: string;
};

const sources = [...repositoryFiles()].filter(
  ([path]) => path.startsWith("src/") && path.endsWith(".ts") && !path.endsWith(".test.ts"),
);
const code = new Map(sources.map(([path, source]) => [path, mask(source).code]));
const declarations = [...code].flatMap(([path, text]) => declarationsIn(path, text));
const page = readFileSync("VOCABULARY.md", "utf8");
const [definitions = "", banned = ""] = page.split("## Words we do not use in names");

function declarationsIn(path: string, text: string): readonly Declaration[] {
  const form = /^(export )?(?:abstract |async )*(type|class|interface|function\*?|const) (\w+)/gm;
  return [...text.matchAll(form)].map(([, exported, kind = "", name = ""]) => ({
    name,
    kind,
    isExported: exported !== undefined,
    where: path,
  }));
}

function isType({ kind }: Declaration): boolean {
  return kind === "type" || kind === "class" || kind === "interface";
}

/** `LedgerStream` and `ledger-stream.ts` are `ledger` and `stream`. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/\.ts$/, "")
    .split(/(?<=[a-z0-9])(?=[A-Z])|[-_]/)
    .map((word) => word.toLowerCase());
}

/** First cells of the tables, split at commas. */
function firstCells(markdown: string): readonly string[] {
  const rows = [...markdown.matchAll(/^\| ?([^|]+?) ?\|/gm)].map(([, cell = ""]) => cell);
  return rows.filter((cell) => !/^(?:-+|word|not)$/.test(cell)).flatMap((cell) => cell.split(", "));
}

/** Names that more than one declaration has, with where they stand. */
function repeated(all: readonly Declaration[]): readonly string[] {
  const places = new Map<string, string[]>();
  for (const { name, where } of all) places.set(name, [...(places.get(name) ?? []), where]);
  return [...places]
    .filter(([, where]) => where.length > 1)
    .map(([name, where]) => `${name}: ${where.join(", ")}`);
}

describe("words", () => {
  const used = new Set(
    [...code].flatMap(([path, text]) => [
      ...wordsOf(path.replaceAll("/", "-")),
      ...[...text.matchAll(/[A-Za-z][A-Za-z0-9]*/g)].flatMap(([name]) => wordsOf(name)),
    ]),
  );
  const texts = sources.map(([, source]) => source).join("\n");

  test("every word of the vocabulary is used in the code", () => {
    const isUsed = (word: string): boolean =>
      word.split(" ").every((part) => used.has(part) || used.has(`${part}s`) || texts.includes(`"${part}"`));
    expect(firstCells(definitions).filter((word) => !isUsed(word))).toEqual([]);
  });

  test("no name uses a banned word", () => {
    const words = firstCells(banned);
    expect(words.length).toBeGreaterThan(10);
    const helpers = [...repositoryFiles()].filter(
      ([path]) => /^test\/(?:support|simulate|golden)\/[\w-]+\.ts$/.test(path) && !path.endsWith(".test.ts"),
    );
    expect(helpers.length).toBeGreaterThan(50);
    const names = [
      ...declarations.map(({ name, where }) => ({ name, where })),
      ...helpers.flatMap(([path, source]) => declarationsIn(path, mask(source).code)),
      ...[...sources, ...helpers].map(([path]) => ({ name: basename(path), where: path })),
    ];
    const found = names.filter(({ name }) => wordsOf(name).some((word) => words.includes(word)));
    expect(found.map(({ name, where }) => `${where}: ${name}`)).toEqual([]);
  });

  test("no word is defined twice", () => {
    const words = firstCells(definitions);
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
  });
});

describe("names", () => {
  test("an exported name means one thing", () => {
    const isDoor = ({ where }: Declaration): boolean => basename(where) === "index.ts";
    const exported = declarations.filter((one) => one.isExported && !isDoor(one));
    expect(repeated(exported.filter((one) => !one.where.startsWith("src/protocols/")))).toEqual([]);
  });

  test("a type is named by a noun", () => {
    const verbal =
      /(?:ing|ed|Sent|Told|Heard|Said|Begun|Known|Found|Held|Kept|Shown|Written|Made|Left|Given|Taken|Gone)$/;
    const nouns =
      /(?:String|Setting|Pricing|Encoding|Speed|Embedding|Heading|Feed|Seed|Reasoning|Recording|Framing|Posting|Rendering|Binding|Warning|Mapping|Listing|Ending)$/;
    // `shown` is a word of the vocabulary.
    const found = declarations.filter(
      (one) => isType(one) && one.name !== "Shown" && verbal.test(one.name) && !nouns.test(one.name),
    );
    expect(found.map(({ name, where }) => `${where}: ${name}`)).toEqual([]);
  });

  test("a file name stands for one file, the parallel files of protocols aside", () => {
    const names = sources
      .filter(([path]) => !path.startsWith("src/protocols/") && basename(path) !== "index.ts")
      .map(([path]) => ({ name: basename(path), kind: "file", isExported: true, where: path }));
    expect(repeated(names)).toEqual([]);
  });
});
