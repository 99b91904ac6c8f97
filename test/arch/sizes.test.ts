import { describe, expect, test } from "vitest";
import { repositoryFiles } from "./files.ts";
import { longFunctions, longLines, sizeProblems } from "./sizes.ts";

test("functions and lines stay small", () => {
  expect(sizeProblems(repositoryFiles())).toEqual([]);
});

describe("lines", () => {
  const wide = "x".repeat(111);

  test.each([
    ["code", `const ${wide} = 1;`, [1]],
    ["a comment", `a();\n// ${wide}`, [2]],
    ["a comment behind a string", `a("b"); // ${wide}`, [1]],
    ["a long string", `a("${wide}");`, []],
    ["a long template over lines", `a(\`b\n${wide}\n\`);`, []],
    ["a long pattern", `a(/${wide}/);`, []],
    ["code around a short string", `const ${wide} = "a";`, [1]],
    ["an address", `// see https://example.com/${wide}`, []],
  ])("%s", (_name, source, expected) => {
    expect(longLines(source)).toEqual(expected);
  });
});

describe("functions", () => {
  const body = (lines: number) => `{\n${"  x();\n".repeat(lines - 2)}}`;

  test.each([
    ["a function", (block: string) => `function f(a: number): number ${block}`],
    [
      "one with an object type as result",
      (block: string) => `function f(): { a: number } | undefined ${block}`,
    ],
    ["one with a generic result", (block: string) => `function f(): Promise<{ a: number }> ${block}`],
    ["one with a tuple result", (block: string) => `function f(): [a: () => void] ${block}`],
    ["an arrow", (block: string) => `const f = (a: string) => ${block}`],
    ["an arrow with a result type", (block: string) => `const f = (): Map<string, number> => ${block}`],
    ["an async callback", (block: string) => `run("x", async () => ${block});`],
    ["a method", (block: string) => `class A { b(c = "{") ${block} }`],
    ["a test", (block: string) => `test("x", () => ${block});`],
  ])("%s", (_name, write) => {
    expect(longFunctions(write(body(70)))).toEqual([]);
    expect(longFunctions(`\n${write(body(71))}`)).toEqual([{ line: 2, lines: 71 }]);
  });

  test.each([
    ["a chapter of tests", `describe("x y", () => ${body(200)});`],
    ["a loop outside any function", `for await (const a of b) ${body(200)}`],
    ["a condition", `if (a) ${body(200)}`],
    ["a table", `const rows = [f(1), {\n${"  a: 1,\n".repeat(200)}}];`],
    ["a type", `export type A = {\n${"  a: (b: string) => void;\n".repeat(200)}};`],
  ])("not %s", (_name, source) => {
    expect(longFunctions(source)).toEqual([]);
  });
});
