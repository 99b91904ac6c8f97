// A long text of little but the same error again and again: a third of it, and no name is lost silently.
import fc from "fast-check";
import { expect, test } from "vitest";
import { trimText } from "../../src/levels/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { keptText } from "./kept-text.ts";

const count = await loadO200k();

const key = (at: number): string => ((at * 2_654_435_761) >>> 0).toString(36);
type Row = (at: number) => { readonly line: string; readonly names: readonly string[] };

/** What tools print by the thousand, with the names that stand in each. */
const floods: Readonly<Record<string, Row>> = {
  files: (at) => ({
    line: `ERROR: cannot read src/pages/item_${key(at)}.ts: ENOENT`,
    names: [`src/pages/item_${key(at)}.ts`],
  }),
  tests: (at) => ({
    line: `--- FAIL: TestStore_${key(at)} (0.0${at % 9}s)`,
    names: [`TestStore_${key(at)}`],
  }),
  requests: (at) => ({
    line: `ERROR worker-${at % 7} failed request req_${key(at)} after ${at % 90} ms`,
    names: [`worker-${at % 7}`, `req_${key(at)}`],
  }),
  compiler: (at) => ({
    line: `src/mod${at % 60}.ts(${at},4): error TS2339: Property 'prop_${key(at)}' does not exist on type 'Store'.`,
    names: [`src/mod${at % 60}.ts`, `prop_${key(at)}`],
  }),
};

test.each(Object.entries(floods))("%s: every name is told, or counted", (_, row) => {
  fc.assert(
    fc.property(fc.integer({ min: 300, max: 2_000 }), fc.nat(1e6), (size, from) => {
      const rows = Array.from({ length: size }, (_row, at) => row(from + at));
      const text = rows.map(({ line }) => line).join("\n");
      const source = { kind: "tool-result", text, tool: "Bash", input: { command: "npm test" } } as const;
      const trimmed = trimText(source) ?? text;
      expect(count(trimmed)).toBeLessThanOrEqual(count(text) * 0.35);
      const names = new Set(rows.flatMap((one) => one.names));
      const words = new Set(trimmed.split(/[\s,;()'\]]+/).map((word) => word.replace(/:$/, "")));
      const told = [...names].filter((name) => words.has(name)).length;
      const others = [...trimmed.matchAll(/(\d+) other names?\]$/gm)].map(([, more]) => Number(more));
      // A place like src/a.ts(3,4) is more than one name to who prints it, so others may be more.
      expect(told + others.reduce((sum, more) => sum + more, 0)).toBeGreaterThanOrEqual(names.size);
      expect(told).toBeGreaterThan(names.size / 10);
      for (const line of keptText(trimmed).split("\n")) expect(text).toContain(line);
    }),
    { numRuns: 8 },
  );
});

test("lines that say something of their own stay, however many say the same around them", () => {
  const flood = Array.from({ length: 900 }, (_, at) => `ERROR: cannot read item_${key(at)}.ts: ENOENT`);
  const own = ["panic: store closed", "FATAL: the disk is full", "AssertionError: expected 2 to be 1"];
  const text = [...flood.slice(0, 450), ...own, ...flood.slice(450)].join("\n");
  const trimmed = trimText({ kind: "tool-result", text, tool: null, input: null });
  for (const line of own) expect(trimmed).toContain(line);
});
