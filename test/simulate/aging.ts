import type { Random } from "../../src/base/index.ts";
import type { Block, Fields } from "./seen-body.ts";

/** What makes things in a world grow old: files that are read again, windows that fill, policy. */
export type Aging = {
  /** Whether the window fills within a few turns, with results that could go. */
  readonly isCrowded: boolean;
  readonly window: number;
  readonly policy: "auto" | "off";
  /** The lines of files that the model reads, by their path. */
  readonly files: Map<string, readonly string[]>;
};

type AgedWorld = {
  readonly aging: Aging | null;
  readonly random: Random;
  /** A number that was not used before. */
  readonly next: () => number;
};

export function newAging(random: Random, isCrowded: boolean): Aging {
  const window = random.pick(isCrowded ? [40_000, 30_000, 24_000] : [200_000, 200_000, 40_000, 30_000]);
  return { isCrowded, window, policy: random.below(6) === 0 ? "off" : "auto", files: new Map() };
}

/** What a model that works on a few files calls its tools with. */
export function agedInput(random: Random, next: () => number): Fields {
  const path = `src/part-${random.below(3)}.ts`;
  const kind = random.below(6);
  if (kind === 0) return { n: next(), of: "it" };
  if (kind === 1) return { path, content: fileLines(next, 40).join("\n") };
  return { path };
}

/** A result that is worth less later: most are long, many say what another one said. */
export function agedResult(world: AgedWorld, call: Block, said: string): string {
  const { random, next, aging } = world;
  const { path, content } = call["input"] as { readonly path?: string; readonly content?: string };
  if (path === undefined || content !== undefined) return said;
  const kind = aging?.isCrowded === true ? 1 + random.below(8) : random.below(5);
  if (kind === 0) return said;
  if (kind === 1) return `${said}\n${"waiting for the build\n".repeat(4 + random.below(60))}done ${next()}`;
  if (kind === 2) return `${said}\n${progress(next())}`;
  return `${said}\n${numbered(fileAt(world, path)).join("\n")}`;
}

/** As a terminal is sent it. */
function progress(at: number): string {
  const states = Array.from({ length: 30 }, (_, done) => `building ${at}: ${done * 3}%`);
  return `\u001b[32m${states.join("\r")}\u001b[0m\nbuilt ${at} files in ${at} ms`;
}

/** A file as it is now: now and then somebody has changed it since. */
function fileAt({ aging, random, next }: AgedWorld, path: string): readonly string[] {
  const lines = (30 + random.below(60)) * (aging?.isCrowded === true ? 4 : 1);
  const before = aging?.files.get(path) ?? fileLines(next, lines);
  const at = random.below(before.length);
  const isEdited = random.below(3) === 0;
  const now = isEdited
    ? [...before.slice(0, at), `const changed${next()} = true;`, ...before.slice(at)]
    : before;
  aging?.files.set(path, now);
  return now;
}

function fileLines(next: () => number, count: number): readonly string[] {
  const first = next();
  return Array.from({ length: count }, (_, at) => `export const value${first}x${at} = makeValue(${at});`);
}

function numbered(lines: readonly string[]): readonly string[] {
  return lines.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`);
}
