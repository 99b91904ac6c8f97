// How long a rendition takes follows the length of the text and nothing else: no text, however strange, is
// worth more than 50 ms for each 100,000 characters once the code is warm. On a machine that is slower or
// busy with other things, that is more in the proportion in which a simple count of words takes longer there.
import { expect, test } from "vitest";
import type { Json } from "../../src/base/index.ts";
import { judgedExtract, minimal, type Source, trimInput, trimText } from "../../src/levels/index.ts";

const msMax = 50;
const charsPer = 100_000;
const triesMax = 12;

const rows = (count: number, row: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => row(at)).join("\n");
const key = (at: number): string => ((at * 2_654_435_761) >>> 0).toString(16);
const items = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ id: at, name: `item_${key(at)}`, tags: ["a", "b"] }));

const texts: Readonly<Record<string, string>> = {
  code: rows(4_000, (at) => `  const value${at % 40} = await load_${key(at % 300)}(store.items[${at}]);`),
  "numbered code": rows(4_000, (at) => `${at}→  const value_${key(at)} = 1;`),
  log: rows(3_000, (at) => `2026-01-02T03:04:05 INFO worker-${at % 7} did ${key(at)} in ${at % 90} ms`),
  "log of errors": rows(3_000, (at) => `ERROR worker-${at} failed request ${key(at)} after ${at % 90} ms`),
  paths: rows(4_000, (at) => `/a/b/c/d/e/f/g/h/i/dir${at % 99}/file_${key(at)}.ts`),
  diff: `diff --git a/x b/x\n@@ -1,2 +1,2 @@\n${rows(6_000, (at) => `${at % 3 ? " " : "+"}call_${key(at)}(x);`)}`,
  hits: rows(6_000, (at) => `src/a${at % 50}.ts:${at}: const v = call_${key(at)}(x);`),
  json: JSON.stringify(items(5_000)),
  "json on lines": JSON.stringify(items(3_000), null, 2),
  "deep json": "[".repeat(100_000) + "]".repeat(100_000),
  "deep objects": `${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`,
  html: `<!doctype html>${'<div class="a b"><a href="/x/y">some text</a></div>'.repeat(6_000)}`,
  prose: "Nothing is lost, and nobody waits for what is written here. ".repeat(5_000),
  "one line of a megabyte": "a".repeat(1_000_000),
  "one line of signs": `${"-".repeat(1_000_000)}a`,
  "one line of slashes": "a/".repeat(500_000),
  "one line of dots": "a.b".repeat(300_000),
  "one line of names": Array.from({ length: 40_000 }, (_, at) => `name_${key(at)}`).join(" "),
  "one line of blanks": " ".repeat(1_000_000),
  "one line of quotes": '"'.repeat(1_000_000),
  "one line of brackets": "(".repeat(1_000_000),
  "a hundred thousand short lines": rows(100_000, (at) => `x${at}`),
  "a hundred thousand names": rows(100_000, (at) => `name_${key(at)}`),
  "a million empty lines": "\n".repeat(1_000_000),
  "calls that open nothing": rows(4_000, () => `${"a b c d(".repeat(18)}{`),
  "types that end nowhere": rows(4_000, () => `const x: ${"a ".repeat(70)}`),
  "angles that end nowhere": rows(4_000, () => `${"a<".repeat(70)}{`),
  "tags that end nowhere": rows(4_000, () => `<a ${"b ".repeat(70)}`),
  pairs: "😀".repeat(300_000),
  "joined signs": "👩‍👩‍👧".repeat(60_000),
  "one letter with many accents": `e${"\u0301".repeat(500_000)}`,
  "no spaces": "漢字".repeat(200_000),
  "right to left": "هذا نص عربي طويل، לא לשנות את הקובץ. ".repeat(2_700),
  "minified code": 'function a(b,c){return b&&c?d(b,c):e[b]}var f=1,g="x";'.repeat(1_900),
  rules: rows(900, (at) => `Never run job_${key(at)} on ${at} unless it is done; it must not take ${at} ms.`),
  "lines of numbers": rows(9_000, (at) => `${at * 7_919} ${at}`),
  "one line of numbers": Array.from({ length: 17_000 }, (_, at) => at).join(" "),
  "ends of sentences": "Ab c. ".repeat(17_000),
  "lines that go on": rows(
    1_300,
    (at) => `and this line of plain prose goes on without any end of a sentence ${at}`,
  ),
};

/** Of a longer text no summary is made: see level-words.ts. */
const summedCharsMax = 50_000;

/** What the count of words takes where nothing else runs. */
const quietMs = 1.6;
const counted = rows(2_000, (at) => `  const value${at % 40} = await load_${key(at)}(store.items[${at}]);`);

function countWords(): number {
  const seen = new Map<string, number>();
  for (const line of counted.split("\n"))
    for (const word of line.match(/\w+/g) ?? []) seen.set(word, (seen.get(word) ?? 0) + 1);
  return seen.size;
}

/** How many times slower than a quiet machine this one is, over as long a time as the work took. */
function slowness(ms: number): number {
  const start = performance.now();
  let times = 0;
  for (; performance.now() - start < ms; times += 1) countWords();
  return Math.max(1, (performance.now() - start) / Math.max(1, times) / quietMs);
}

/** The best of some tries, as it would have been on a quiet machine. */
async function fastest(work: () => Promise<unknown> | unknown, allowed: number): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < triesMax && !(tries > 0 && best <= allowed); tries += 1) {
    const start = performance.now();
    await work();
    const ms = performance.now() - start;
    best = Math.min(best, ms <= allowed ? ms : ms / slowness(ms));
  }
  return best;
}

test.each(Object.entries(texts))(
  "%s",
  async (_, text) => {
    const allowed = (msMax * text.length) / charsPer;
    const inputs: readonly (Json | null)[] = [null, { file_path: "src/a.ts" }];
    for (const input of inputs) {
      const source: Source = { kind: "tool-result", text, tool: "Read", input };
      expect(await fastest(() => trimText(source), allowed)).toBeLessThanOrEqual(allowed);
      expect(await fastest(() => minimal(source), allowed)).toBeLessThanOrEqual(allowed);
    }
    expect(await fastest(() => trimInput({ content: text }), allowed)).toBeLessThanOrEqual(allowed);
    const source = { kind: "user", text: text.slice(0, summedCharsMax) } as const;
    const allowedSum = (msMax * source.text.length) / charsPer;
    expect(await fastest(() => judgedExtract(source, 800), allowedSum)).toBeLessThanOrEqual(allowedSum);
  },
  60_000,
);
