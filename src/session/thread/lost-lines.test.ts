import fc from "fast-check";
import { expect, it } from "vitest";
import { LostLines } from "./lost-lines.ts";

it("a line's number changes when something of it is lost, and others' do not", () => {
  const lost = new LostLines();
  const before = [lost.numberOf("a"), lost.numberOf("b")];
  lost.lose("a");
  expect([lost.numberOf("a") === before[0], lost.numberOf("b") === before[1]]).toEqual([false, true]);
});

it("no number comes twice for a line, whatever is lost, however many lines there are", () => {
  const acts = fc.array(fc.constantFrom("a", "b", null), { maxLength: 50 });
  fc.assert(
    fc.property(acts, (all) => {
      const lost = new LostLines();
      const seen = { a: [lost.numberOf("a")], b: [lost.numberOf("b")] };
      for (const line of all) {
        if (line === null) lost.loseAll();
        else lost.lose(line);
        for (const name of ["a", "b"] as const) {
          const isLost = line === null || line === name;
          const [number, last] = [lost.numberOf(name), seen[name].at(-1)];
          expect(isLost ? seen[name].includes(number) : number !== last).toBe(false);
          if (isLost) seen[name].push(number);
        }
      }
    }),
  );
  const many = new LostLines();
  for (let n = 0; n <= 10_000; n += 1) many.lose(`line ${n}`);
  expect(many.numberOf("another")).toBeGreaterThan(0);
});
