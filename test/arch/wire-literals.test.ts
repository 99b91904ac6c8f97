import { describe, expect, test } from "vitest";
import { repositoryFiles } from "./files.ts";
import { wireLiterals, wirePlaceOf, wirePlaces, wireRule } from "./wire-literals.ts";

const literals = wireLiterals(repositoryFiles());

test("no name of a wire format stands outside its places", () => {
  const outside = literals.filter(({ path }) => wirePlaceOf(path) === null);
  expect(outside.map(({ path, line, word }) => `${path}:${line}: ${word} (${wireRule})`)).toEqual([]);
});

test("each place is needed: one without such names is taken off the list", () => {
  const used = new Set(literals.map(({ path }) => wirePlaceOf(path)));
  expect(wirePlaces.filter((place) => !used.has(place))).toEqual([]);
});

const wordsIn = (source: string, path = "src/ledger/a.ts"): string[] =>
  wireLiterals(new Map([[path, source]])).map(({ word }) => word);

describe("a name is found", () => {
  test.each([
    ["as a value", 'if (type === "tool_use") return;', "tool_use"],
    ["as a key", "const block = { tool_use_id: id };", "tool_use_id"],
    ["as a field", "return answer.stop_reason;", "stop_reason"],
    ["inside a longer text", `bytes.includes('"media_type"');`, "media_type"],
    ["in an English word that is a value", 'case "thinking":', "thinking"],
    ["in another API", 'part["functionCall"]', "functionCall"],
    ["in a type of the same family", '"web_search_tool_result"', "web_search_tool_result"],
  ])("%s", (_name, source, word) => {
    expect(wordsIn(source)).toEqual([word]);
  });
});

describe("and nothing else", () => {
  test.each([
    ["a comment", "/** Reads a `tool_use` block. */\n// stop_reason", "src/ledger/a.ts"],
    ["a word of ours", "const toolUse = toolUses[0]; // it has a thinking budget", "src/ledger/a.ts"],
    ["prose", 'const text = "it was thinking";', "src/ledger/a.ts"],
    ["a test", 'const block = { type: "tool_use" };', "src/ledger/a.test.ts"],
  ])("%s", (_name, source, path) => {
    expect(wordsIn(source, path)).toEqual([]);
  });
});
