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
  expand: "restored whole:",
  withhold: "withheld",
  release: "released",
  purge: "erased permanently:",
  scope: "set the scope of",
};

/** `archived 3 blocks: #1 #2 #3; frees ~6.2k at the next rewrite (step 12)`. */
export function commandResultText({ verb, blocks, freed, step, text }: PricedCommand): string {
  const word = doneVerbs[verb];
  if (word === undefined || blocks.length === 0) return printable(text.split("\n")[0] ?? "", 300);
  const saving = freed > 0 ? `; frees ~${tokensText(freed)} at the next rewrite` : "";
  return `${word} ${countedBlocks(blocks)}${saving}${step === null ? "" : ` (step ${step})`}`;
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
  const own =
    stays.length === 0 ? [] : [`not shortened, because they are the model's own words: ${blockList(stays)}`];
  return [`${what}${frees}${more}`, ...resent, ...price, ...own, ...conflictLines(conflicts)];
}

/** Verbs whose name in a plan differs from the command's. */
const planVerbs: Readonly<Record<string, string>> = { expand: "restore whole", scope: "set the scope of" };

function emptyPlanText(verb: string): string {
  return verb === "create" || verb === "update" ? "would add a memory" : `would ${verb} nothing`;
}

/** One line for each fact that another actor has set and this command would change. */
function conflictLines(conflicts: PricedCommand["conflicts"]): readonly string[] {
  const kinds = [...new Set(conflicts.map(({ fact, by }) => `${fact} was set by ${by}`))];
  return kinds.map((kind) => {
    const its = conflicts.filter(({ fact, by }) => `${fact} was set by ${by}` === kind);
    return `changes a value: ${kind} for ${blockList(its.map(({ block }) => block))}`;
  });
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
