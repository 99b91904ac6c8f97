import fc from "fast-check";
import { expect, it } from "vitest";
import { RecordVersions } from "./record-versions.ts";

it("a loss changes the version of its stream, and of no other", () => {
  const versions = new RecordVersions();
  const before = [versions.versionOf("a"), versions.versionOf("b")];
  versions.bump("a");
  expect([versions.versionOf("a") === before[0], versions.versionOf("b") === before[1]]).toEqual([
    false,
    true,
  ]);
});

it("a stream never gets the same version twice", () => {
  const acts = fc.array(fc.constantFrom("a", "b", null), { maxLength: 50 });
  fc.assert(
    fc.property(acts, (all) => {
      const versions = new RecordVersions();
      const seen = { a: [versions.versionOf("a")], b: [versions.versionOf("b")] };
      for (const stream of all) {
        if (stream === null) versions.bumpAll();
        else versions.bump(stream);
        for (const name of ["a", "b"] as const) {
          const isLost = stream === null || stream === name;
          const [version, last] = [versions.versionOf(name), seen[name].at(-1)];
          expect(isLost ? seen[name].includes(version) : version !== last).toBe(false);
          if (isLost) seen[name].push(version);
        }
      }
    }),
  );
  const many = new RecordVersions();
  for (let n = 0; n <= 10_000; n += 1) many.bump(`stream ${n}`);
  expect(many.versionOf("another")).toBeGreaterThan(0);
});
