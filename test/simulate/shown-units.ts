import type { SentRequest, SentRequestUnit } from "../../src/exchange/index.ts";
import { compactResult } from "../../src/levels/index.ts";
import { isOwnLine } from "../../src/notes/index.ts";
import type { Posted } from "../support/planner-kit.ts";
import { failLaw } from "./law-error.ts";
import { type Block, blocksOf, nonce, type SeenUnit } from "./seen-body.ts";

/** A unit of a body with what the log was told of it; null: nothing, it is sent for this once. */
export type ShownUnit = SeenUnit & { readonly report: SentRequestUnit | null };

/** All that the log of a world was ever told to be sent. */
export class SentBook {
  readonly #units = new Map<string, SentRequestUnit>();

  note({ attempts, rounds }: Posted): void {
    for (const { sending } of [...attempts, ...rounds]) {
      const { sent } = sending;
      // An id is made of what is said: two streams may say the same, and number it otherwise.
      for (const unit of sent?.fresh ?? []) {
        const bytes = Uint8Array.from(unit.bytes);
        this.#units.set(`${sent?.streamKey} ${unit.id}`, { ...unit, bytes });
      }
    }
  }

  /**
   * The units of a request that the log was told, in order. Units that were sent raw are not among them: a
   * planner may restore those from the log and continue.
   */
  pathOf({ streamKey: line, leaf }: SentRequest): readonly SentRequestUnit[] {
    const path: SentRequestUnit[] = [];
    for (let id: string | null = leaf; id !== null; ) {
      const unit = this.#units.get(`${line} ${id}`);
      if (unit === undefined) break;
      path.push(unit);
      id = unit.parent;
    }
    return path.reverse();
  }
}

/** What the log was told is what the body shows, to the byte and in one piece. */
export function shownIn(units: readonly SeenUnit[], path: readonly SentRequestUnit[]): readonly ShownUnit[] {
  const texts = path.map(textOf);
  const isAt = (from: number): boolean => texts.every((text, at) => units[from + at]?.block === text);
  const last = units.length - texts.length;
  const starts = Array.from({ length: Math.max(0, last + 1) }, (_, at) => last - at);
  const start = starts.find(isAt);
  if (start === undefined)
    return failLaw("log", "the body does not show what the log was told", texts.join("\n"));
  return units.map((unit, at) => ({ ...unit, report: path[at - start] ?? null }));
}

/** As a reader of JSON has it. */
function textOf({ bytes }: SentRequestUnit): string {
  return JSON.stringify(JSON.parse(Buffer.from(bytes).toString("utf8") || "{}"));
}

/** Whether a unit shows less than its block, and says so by its number. */
export function isLowered({ report }: ShownUnit): boolean {
  return report !== null && report.as !== "original" && report.origin !== "aperture";
}

/** Whoever sees less than a block is told which it is; of a call only its input is less. */
export function checkNamed(unit: ShownUnit): void {
  const { report, block } = unit;
  const called = report?.numbered?.block;
  if (called === undefined) failLaw("coverage", "something is left out that has no number", block);
  const { type, input, text = "" } = JSON.parse(block) as Block;
  if (type === "tool_use" && !JSON.stringify(input).includes("pruned")) return;
  if (!block.includes(`#${called}`))
    failLaw("coverage", `#${called} is not named where it is shorter`, block);
  const lines = type === "tool_use" ? [] : `${text}\n${resultText(unit)}`.split("\n");
  const lost = lines.find((line) => line.includes(nonce) && !isOwnLine(line, nonce));
  if (lost !== undefined) failLaw("own lines", "a line of ours that is not known again", lost);
}

/** How many lines, or from which to which, of which block, and from which line of it on. */
const reference =
  /^\[\S+ (?:(\d+) lines|lines (\d+)-(\d+)): same as (?:\S+ )?in #(\d+), from its line (\d+)(?:, [^\]]+)?\]$/;

/** Whether a line stands in it that points to lines elsewhere. */
export function refersTo(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).includes(": same as ") && Buffer.from(bytes).includes(`[${nonce} `);
}

/** What a result says with all its lines, each reference looked up where it points. */
function wholeText(unit: SeenUnit, units: readonly ShownUnit[]): string {
  const said = resultText(unit).split("\n");
  const lines = said.flatMap((line): readonly string[] => {
    const found = reference.exec(line);
    if (found === null || !line.startsWith(`[${nonce} `)) return [line];
    const [, count, from, to, id, start] = found;
    const length = count === undefined ? Number(to) - Number(from) + 1 : Number(count);
    const there = linesOf(Number(id), units).slice(Number(start) - 1, Number(start) - 1 + length);
    if (there.length !== length) failLaw("reference", `#${id} does not have so many lines`, line);
    return there;
  });
  return lines.join("\n");
}

/** The lines of a block that is shown whole: nothing else is a place to refer to. */
function linesOf(block: number, units: readonly ShownUnit[]): readonly string[] {
  const lender = units.find(({ report }) => report?.numbered?.block === block);
  if (lender === undefined) return failLaw("reference", `#${block} is not on the path`, "");
  if (isLowered(lender)) failLaw("reference", `#${block} is not shown whole`, lender.block);
  return wholeText(lender, units).split("\n");
}

/** What a result says, without a header of ours in front. */
export function resultText({ block }: Pick<SeenUnit, "block">): string {
  const { content } = JSON.parse(block) as Block;
  const isHeader = (text: string): boolean =>
    text.split("\n").every((line) => /\| \S+(?: ---|\])$/.test(line));
  const texts = blocksOf(content).map(({ text }) => String(text));
  const said = texts.filter((text) => !(text.includes(nonce) && isHeader(text)));
  return said.map((text) => text.trim()).join("|");
}

/** What a result says however it is shown; empty where that cannot be told from it alone. */
export function meansResult(block: string): string {
  const text = resultText({ block });
  if (text.split("\n").some((line) => line.startsWith(`[${nonce} `) && reference.test(line))) return "";
  return `result ${(JSON.parse(block) as Block)["tool_use_id"]} ${compactResult(text, nonce)}`;
}

/** Printed numbers move when a file is read again after an edit: the words are the same. */
function unnumbered(text: string): string {
  return text.replaceAll(/^\s*\d+(?=[\t:→|])/gm, "#").trim();
}

/** Whether a result that is shown whole lost nothing when it came. */
export function isWholeAs(unit: SeenUnit, units: readonly ShownUnit[], said: string): boolean {
  const whole = wholeText(unit, units);
  return unnumbered(whole) === unnumbered(compactResult(said, nonce)) || whole.trim() === said.trim();
}
