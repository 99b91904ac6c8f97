import { describe, expect, test } from "vitest";
import { repositoryFiles } from "./files.ts";
import { tidyProblems } from "./tidy.ts";

test("the repository is tidy", () => {
  expect(tidyProblems(repositoryFiles())).toEqual([]);
});

function namesFor(path: string, source: string): (string | undefined)[] {
  return tidyProblems(new Map([[path, source]])).map((problem) => problem.split(": ")[1]);
}

// Planted text is spelled in pieces, or it would be found in this file as well.
const slash = "/";

describe("each rule finds what it is for", () => {
  test.each([
    ["unfinished work", "README.md", `${"TO"}DO: write this`],
    ["unfinished work", "src/base/a.ts", `// ${"HA"}CK around it`],
    ["any", "src/base/a.ts", "const a: any = 1;"],
    ["any", "src/base/a.ts", "const a = b as any;"],
    ["any", "src/base/a.ts", "type A = Map<string, any>;"],
    ["any", "test/a.ts", "function f(a: any[]) {}"],
    ["silenced without a reason", "src/base/a.ts", "// @ts-expect-error"],
    ["silenced without a reason", "src/base/a.ts", "// @ts-ignore why"],
    ["silenced without a reason", "src/base/a.ts", "// biome-ignore lint/style/useConst:"],
    ["default export", "src/base/a.ts", "export default 1;"],
    ["default export", "src/base/a.ts", "export { a as default };"],
    ["focused or switched-off test", "src/base/a.test.ts", 'test.only("x", f);'],
    ["focused or switched-off test", "src/base/a.test.ts", 'describe.concurrent.skip("x", f);'],
    ["focused or switched-off test", "test/a.test.ts", 'it.todo("x");'],
    ["machine path", "README.md", `see ${slash}root/notes`],
    ["machine path", "test/a.ts", `const a = "${slash}home/ada/x";`],
    ["registry address", ".npmrc", `registry=https://${"registry"}.example.org/`],
    ["registry address", "README.md", `from ${"registry"}.example.org`],
    ["resolved address in the lock file", "package-lock.json", '{ "resolved": "x" }'],
  ])("%s in %s", (name, path, source) => {
    expect(namesFor(path, source)).toEqual([name]);
  });
});

describe("and nothing else", () => {
  test.each([
    ["words that contain a marker", "README.md", `${"TO"}DOS and ha${"ck"}`],
    [
      "the word any in prose and names",
      "src/base/a.ts",
      '// for any: reason\nPromise.any(f("as any")); anyOf({ any: 1 });',
    ],
    ["a reason", "src/base/a.ts", "// @ts-expect-error the types of this package are wrong"],
    ["a reason for biome", "src/base/a.ts", "// biome-ignore lint/style/useConst: it is assigned below"],
    ["a default export where a tool wants one", "vitest.config.ts", "export default {};"],
    ["a skip with a reason", "test/a.test.ts", 'context.skip("needs a database server");'],
    ["a path inside an address", "README.md", "https://example.com/home/page and ~/work/notes"],
    ["a planted string", "src/base/a.test.ts", 'expect("test.only(").toBe(1);'],
  ])("%s", (_name, path, source) => {
    expect(namesFor(path, source)).toEqual([]);
  });
});
