import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { printOf } from "../text-print.ts";
import { KeptWithheld, readWithheld } from "./kept-withheld.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-withheld-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const whose = { session: "s1", owner: "local", upstream: "anthropic", client: "claude-code", name: "a" };
const unit = { key: "user::12", print: printOf("a secret") };

test("what is withheld is there for the next process, with the prints of what was purged since", () => {
  const path = join(folder, "kept.json");
  new KeptWithheld(path).keep({ ...whose, units: [unit] });
  expect(readWithheld(path)).toEqual([{ ...whose, units: [unit] }]);
  const again = new KeptWithheld(path).keep({ ...whose, units: [{ ...unit, print: null }] });
  expect(again.units).toEqual([unit]);
  new KeptWithheld(path).keep({ ...whose, units: [] });
  expect(readWithheld(path)).toEqual([]);
});

test("a file that makes no sense is none", () => {
  const path = join(folder, "odd.json");
  const odd = [
    "",
    "{",
    "[]",
    '{"withheld":7}',
    '{"withheld":[null,{"session":"s1"}]}',
    JSON.stringify({ withheld: [{ ...whose, units: [{ key: 7, print: null }] }] }),
    JSON.stringify({ withheld: [{ ...whose, units: [{ key: "a", print: { chars: 0 } }] }] }),
  ];
  for (const text of odd) {
    writeFileSync(path, text);
    expect([text, readWithheld(path)]).toEqual([text, []]);
  }
  expect(readWithheld(join(folder, "nowhere.json"))).toEqual([]);
});
