import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { must } from "../../src/base/index.ts";
import { createSpace } from "../../src/runtime/index.ts";
import { say } from "../../src/testing/index.ts";
import { agentOf, promptText, promptUnits, strictProvider } from "./strict-provider.ts";

const folder = mkdtempSync(join(tmpdir(), "aperture-old-space-"));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

// The file was written by the runtime that rendered prompts itself: three runs of ada, one with a tool, one
// that made a memory, and a message that nobody has read.
it("a space of an older version opens, and its agent starts a new path with everything it knew", async () => {
  const path = join(folder, "space.db");
  copyFileSync(join(import.meta.dirname, "fixtures/space-before-ledger.db"), path);
  const provider = strictProvider((_, n) => say(`New answer ${n}.`));
  const space = await createSpace({ path, name: "old", agents: [agentOf(provider)] });
  for (let turn = 0; turn < 3; turn += 1) await space.stream("desk").activate("ada");
  expect(provider.refusals).toEqual([]);
  const [first, second, third] = provider.exchanges.map(({ request }) => request);
  const text = promptText(must(first, "it was asked"));
  for (const part of ["hello", "Answer 0.", "The gate is open.", "and then?", "one more thing"])
    expect(text).toContain(part);
  expect(text).toContain("The lock is open.");
  expect(text).toMatch(/memory #\d+, yours: The key hangs in the shed\./);
  const units = [first, second, third].map((request) => promptUnits(must(request, "it was asked")));
  expect(units[1]?.slice(0, units[0]?.length)).toEqual(units[0]);
  expect(units[2]?.slice(0, units[1]?.length)).toEqual(units[1]);
  expect(must(space.moment.state.views.get(1), "ada has a view").epochs.size).toBe(1);
  await space.close();
});
