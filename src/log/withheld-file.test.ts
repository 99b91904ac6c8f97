import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fingerprintOf } from "../exchange/index.ts";
import { readWithheldFile, WithheldFile } from "./withheld-file.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-withheld-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const owner = { session: "s1", owner: "local", upstream: "anthropic", client: "claude-code", name: "a" };
const unit = { key: "user::12", print: fingerprintOf("a secret") };

test("withheld units survive a restart, with the fingerprints of texts purged since", () => {
  const path = join(folder, "kept.json");
  new WithheldFile(path).save({ ...owner, units: [unit] });
  expect(readWithheldFile(path)).toEqual([{ ...owner, units: [unit] }]);
  const again = new WithheldFile(path).save({ ...owner, units: [{ ...unit, print: null }] });
  expect(again.units).toEqual([unit]);
  new WithheldFile(path).save({ ...owner, units: [] });
  expect(readWithheldFile(path)).toEqual([]);
});

test("an unreadable file counts as empty", () => {
  const path = join(folder, "odd.json");
  const odd = [
    "",
    "{",
    "[]",
    '{"withheld":7}',
    '{"withheld":[null,{"session":"s1"}]}',
    JSON.stringify({ withheld: [{ ...owner, units: [{ key: 7, print: null }] }] }),
    JSON.stringify({ withheld: [{ ...owner, units: [{ key: "a", print: { chars: 0 } }] }] }),
  ];
  for (const text of odd) {
    writeFileSync(path, text);
    expect([text, readWithheldFile(path)]).toEqual([text, []]);
  }
  expect(readWithheldFile(join(folder, "nowhere.json"))).toEqual([]);
});
