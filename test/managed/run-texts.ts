import { type Random, seededRandom } from "../../src/base/index.ts";

/** What tools give back in a long run: logs, code and data, of which no two lines are the same. */
export function toolText(seed: number, tokens: number): string {
  const random = seededRandom(seed);
  const line = random.pick([logLine, codeLine, dataLine]);
  const lines: string[] = [];
  let chars = 0;
  for (let n = 0; chars < tokens * charsPerToken; n += 1) {
    const next = line(random, n);
    lines.push(next);
    chars += next.length + 1;
  }
  return line === dataLine ? `[\n${lines.join(",\n")}\n]` : lines.join("\n");
}

/** From 200 to 6,000: most results are small, and a few are most of what is said. */
export function toolTokens(random: Random): number {
  return Math.round(200 * 30 ** (random.float() ** 2));
}

const charsPerToken = 4;
const words = [
  "queue",
  "parser",
  "cache",
  "ledger",
  "router",
  "socket",
  "buffer",
  "window",
  "cursor",
  "page",
];
const levels = ["INFO", "DEBUG", "WARN", "INFO", "INFO"];

function name(random: Random): string {
  return `${random.pick(words)}-${random.pick(words)}-${random.below(90_000) + 10_000}`;
}

function logLine(random: Random, n: number): string {
  const second = String(n % 60).padStart(2, "0");
  const ms = random.below(4_000);
  return `2026-03-04T05:${second}:${ms} ${random.pick(levels)} ${name(random)} took ${ms} ms for ${name(random)}`;
}

function codeLine(random: Random, n: number): string {
  const [one, other] = [random.pick(words), random.pick(words)];
  if (n % 12 === 0) return `export function ${one}${random.below(10 ** 6)}(${other}: number): number {`;
  if (n % 12 === 11) return `  return ${one} + ${other}; // ${random.below(10 ** 6)}\n}`;
  return `  const ${one}${random.below(10 ** 6)} = ${other} * ${random.below(10 ** 6)} - ${random.below(10 ** 6)};`;
}

function dataLine(random: Random, n: number): string {
  const value = { id: n, name: name(random), size: random.below(10 ** 7), tags: [random.pick(words)] };
  return `  ${JSON.stringify(value)}`;
}
