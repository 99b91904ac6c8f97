// Whatever tool says it, what went wrong stays. The spellings are those of the tools; each stands alone amid
// a long run, which is where a line is lost most easily.
import { describe, expect, test } from "vitest";
import { trimText } from "../../src/levels/index.ts";
import { saysError, saysErrorPrinted } from "./error-checker.ts";
import { errorSpellings, fineLines } from "./error-spellings.ts";
import { keptText } from "./kept-text.ts";

const lines = errorSpellings.flatMap(({ tool, lines: own }) => own.map((line) => [tool, line] as const));

const step = (at: number): string =>
  `[${at}] Compiling module_${((at * 2_654_435_761) >>> 0).toString(36)} of package_${at % 37} for the target`;
const run = (amid: readonly string[]): string =>
  [
    ...Array.from({ length: 300 }, (_, at) => step(at)),
    ...amid,
    ...Array.from({ length: 300 }, (_, at) => step(at + 300)),
  ].join("\n");

function keptOf(text: string, command: string | null): ReadonlySet<string> {
  const input = command === null ? null : { command };
  const trimmed = trimText({ kind: "tool-result", text, tool: "Bash", input });
  expect(trimmed).not.toBeNull();
  return new Set(keptText(trimmed ?? "").split("\n"));
}

describe("every spelling of an error stays", () => {
  test.each(lines)("%s: %s", (_tool, line) => {
    expect(keptOf(run([line]), null).has(line)).toBe(true);
    expect(keptOf(run([line]), "make all").has(line)).toBe(true);
  });
});

test("the checker that recorded sessions are held against knows every spelling, and nothing that is fine", () => {
  // A place and a message are an error of a compiler, and a hit of a search: only who ran it can tell.
  const unknown = lines.filter(([, line]) => !saysErrorPrinted(line) && !saysError(line));
  expect(unknown.filter(([, line]) => !/^\S+:\d+:\d+: |^hint: /.test(line))).toEqual([]);
  expect(fineLines.filter(saysErrorPrinted)).toEqual([]);
});

test("all spellings of a tool together, as a run prints them", () => {
  for (const { tool, lines: own } of errorSpellings) {
    const kept = keptOf(run(own), "npm run build");
    expect(
      own.filter((line) => !kept.has(line)),
      tool,
    ).toEqual([]);
  }
});

test("lines that say that all is well do not pass for errors: a thousand of each are cut like any others", () => {
  for (const line of fineLines) {
    const text = run(Array.from({ length: 1_000 }, (_, at) => `${line} (${at})`));
    const trimmed = trimText({ kind: "tool-result", text, tool: "Bash", input: null }) ?? text;
    expect(trimmed.length, line).toBeLessThanOrEqual(text.length * 0.35);
  }
});
