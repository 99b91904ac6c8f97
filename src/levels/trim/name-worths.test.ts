import { expect, test } from "vitest";
import { visitNames } from "./name-worths.ts";

function namesIn(line: string): ReadonlyMap<string, number> {
  const names = new Map<string, number>();
  visitNames(line, (name, worth) => names.set(name, Math.max(worth, names.get(name) ?? 0)));
  return names;
}

test.each([
  ["a path", "see ./src/levels/units.ts.", "src/levels/units.ts"],
  ["a path from the root", "(/usr/share/dict/words)", "/usr/share/dict/words"],
  ["a compound name", "call loadState(id)", "loadState"],
  ["a name with an underscore", "call load_state(id)", "load_state"],
  ["a name with its owner", "call store.loadState(id)", "store.loadState"],
])("%s is a name", (_, line, name) => {
  expect(namesIn(line).get(name)).toBe(1);
});

test("a number with letters is worth less", () => {
  expect(namesIn("commit 9f3c2a71e04b").get("9f3c2a71e04b")).toBeLessThan(1);
});

test("plain words, short ones and data are no names", () => {
  expect([...namesIn(`the quick brown foxes are here 12345678 a.b ${"a_".repeat(100)}`).keys()]).toEqual([]);
});

test("parts that may be spoken of alone come with the name, for less", () => {
  const names = namesIn("packages/app/src/loadState.test.ts");
  expect(names.get("loadState")).toBeLessThan(1);
  expect([...names.keys()]).toEqual(expect.arrayContaining(["loadState.test.ts", "packages/app/src"]));
});
