import type { CutBill, PricedCommand } from "../../control/index.ts";
import type { Money } from "../../policy/index.ts";
import { blockList } from "./block-list.ts";
import { pluralText, tokensText } from "./number-text.ts";
import { printable } from "./printable.ts";
import { moneyText } from "./rewrite-text.ts";

const doneVerbs: Readonly<Record<string, string>> = {
  pin: "pinned",
  unpin: "unpinned",
  focus: "focused",
  compress: "compressed",
  archive: "archived",
  restore: "restored",
  expand: "restored in full:",
  withhold: "withheld",
  release: "released",
  purge: "erased permanently:",
  scope: "set the scope of",
};

/** `archived 3 blocks: #1 #2 #3; frees ~6.2k at the next rewrite (step 12)`. */
export function commandResultText({ verb, blocks, freed, step, text }: PricedCommand): string {
  const word = doneVerbs[verb];
  if (verb === "create" || verb === "update") return `${memoryText(text)}${stepText(step)}`;
  if (word === undefined || blocks.length === 0) return printable(text.split("\n")[0] ?? "", 300);
  const saving = freed > 0 ? `; frees ~${tokensText(freed)} at the next rewrite` : "";
  return `${word} ${countedBlocks(blocks)}${saving}${stepText(step)}`;
}

function stepText(step: number | null): string {
  return step === null ? "" : ` (step ${step})`;
}

/** The API reports a new memory in the words that the model gets: `Noted as #1002; #7 archived.` */
function memoryText(report: string): string {
  const line = printable(report.split("\n")[0] ?? "", 300);
  return line.replace(/^Noted as (#\d+)(.*)\.$/, "created memory $1$2");
}

/** The effect of a planned command, its cost now, and when it pays off. */
export function commandPlanLines(plan: PricedCommand): readonly string[] {
  const { verb, blocks, freed, unsized, conflicts, cut, bill, stays } = plan;
  const frees = freed > 0 ? `: frees ~${tokensText(freed)}` : "";
  const more = unsized.length === 0 ? "" : `, plus an unknown amount from ${blockList(unsized)}`;
  const what =
    blocks.length === 0 ? emptyPlanText(verb) : `would ${planVerbs[verb] ?? verb} ${countedBlocks(blocks)}`;
  const resent =
    cut === null ? [] : [`first change at #${cut.block}: a rewrite sends ${resentText(cut.rewritten)}`];
  const price = bill === null ? [] : [billText(bill)];
  const own = stays.length === 0 || !shorteningVerbs.has(verb) ? [] : [ownWordsText(stays)];
  return [`${what}${frees}${more}`, ...resent, ...price, ...own, ...conflictLines(conflicts)];
}

/** Verbs that shorten blocks. The model's own words are never shortened. */
export const shorteningVerbs: ReadonlySet<string> = new Set(["compress", "archive"]);

export function ownWordsText(blocks: readonly number[]): string {
  const are = blocks.length === 1 ? "is" : "are";
  return `${blockList(blocks)} ${are} still sent in full: the model's own words are never shortened.`;
}

/** Verbs whose name in a plan differs from the command's. */
const planVerbs: Readonly<Record<string, string>> = { expand: "restore in full", scope: "set the scope of" };

function emptyPlanText(verb: string): string {
  return verb === "create" || verb === "update" ? "would add a memory" : `would ${verb} nothing`;
}

const factTexts: Readonly<Partial<Record<string, string>>> = {
  archive: "the archived state",
  ttl: "the turns left",
  withhold: "the withheld state",
};

/** One line for each fact that another actor has set and this command would change. */
function conflictLines(conflicts: PricedCommand["conflicts"]): readonly string[] {
  const kindOf = ({ fact, by }: PricedCommand["conflicts"][number]) =>
    `overrides the ${by}, which set ${factTexts[fact] ?? `the ${fact}`}`;
  return [...new Set(conflicts.map(kindOf))].map((kind) => {
    const its = conflicts.filter((conflict) => kindOf(conflict) === kind);
    return `${kind} of ${blockList(its.map(({ block }) => block))}`;
  });
}

/**
 * The changes since a turn, a line each. The API reports them in the words that the model gets, on one line:
 * `[nonce since turn 3: you pinned #17; #18 superseded by #20 (...)]`.
 */
export function changesSinceLines(report: string): readonly string[] {
  const [, body = report] = /^\[\S+ (.*)\]$/s.exec(report) ?? [];
  const [, head, changes] = /^(since turn \d+): (.*)$/s.exec(body) ?? [];
  if (head === undefined || changes === undefined) return [printable(body, 300)];
  const items = changes.split(/; (?=(?:[^"]*"[^"]*")*[^"]*$)/);
  return [head, ...items.map((item) => `  ${printable(item.replace(/^you /, "the model "), 300)}`)];
}

function resentText(tokens: number): string {
  return `the ~${tokensText(tokens)} tokens after it again`;
}

function countedBlocks(blocks: readonly number[]): string {
  return `${pluralText(blocks.length, "block")}: ${blockList(blocks)}`;
}

/** The cost while the cache is warm; Aperture waits for a cheaper moment. */
export function billText({ costNow, savedEach, paysAfter }: CutBill): string {
  const pays =
    paysAfter === null
      ? "never pays off"
      : paysAfter <= 1
        ? "pays off at once"
        : `pays off after ~${pluralText(paysAfter, "request")}`;
  return `now: ${signed(costNow)} once, saves ${moneyText(savedEach)} per later request; ${pays}`;
}

function signed({ tokens, usd }: Money): string {
  const money = moneyText({ tokens: Math.abs(tokens), usd: usd === null ? null : Math.abs(usd) });
  return `${tokens < 0 ? "-" : "+"}${money}`;
}
