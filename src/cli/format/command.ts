import type { CutBill, PricedCommand } from "../../control/index.ts";
import type { Money } from "../../render/index.ts";
import { blockList } from "./blocks.ts";
import { manyText, tokensText } from "./numbers.ts";
import { printable } from "./printable.ts";
import { moneyText } from "./rewrite.ts";

const done: Readonly<Record<string, string>> = {
  pin: "pinned",
  unpin: "unpinned",
  focus: "focused",
  compress: "compressed",
  archive: "archived",
  restore: "restored",
  expand: "wanted whole again:",
  withhold: "withheld",
  release: "released",
  purge: "erased for good:",
  scope: "gave that scope to",
};

/** `archived 3 blocks: #1 #2 #3; frees ~6.2k at the next rewrite (step 12)`. */
export function didText({ verb, blocks, freed, step, text }: PricedCommand): string {
  const word = done[verb];
  if (word === undefined || blocks.length === 0) return printable(text.split("\n")[0] ?? "", 300);
  const less = freed > 0 ? `; frees ~${tokensText(freed)} at the next rewrite` : "";
  return `${word} ${listed(blocks)}${less}${step === null ? "" : ` (step ${step})`}`;
}

/** What it would come to, what that costs now, and when it would have paid. */
export function plannedLines(plan: PricedCommand): readonly string[] {
  const { verb, blocks, freed, unsized, conflicts, cut, bill, stays } = plan;
  const frees = freed > 0 ? `: frees ~${tokensText(freed)}` : "";
  const more = unsized.length === 0 ? "" : `, and what ${blockList(unsized)} will be shorter by`;
  const what = blocks.length === 0 ? wouldNote(verb) : `would ${planned[verb] ?? verb} ${listed(blocks)}`;
  const anew =
    cut === null ? [] : [`first change at #${cut.block}: a rewrite sends ${rewritten(cut.rewritten)}`];
  const price = bill === null ? [] : [billText(bill)];
  const own = stays.length === 0 ? [] : [`sent as before, being the model's own words: ${blockList(stays)}`];
  return [`${what}${frees}${more}`, ...anew, ...price, ...own, ...conflictLines(conflicts)];
}

/** Where it is called otherwise than the verb that was typed. */
const planned: Readonly<Record<string, string>> = { expand: "show whole again", scope: "give that scope to" };

function wouldNote(verb: string): string {
  return verb === "create" || verb === "update" ? "would add a note" : `would ${verb} nothing`;
}

/** What others have set and this would change: a line for each who and what. */
function conflictLines(conflicts: PricedCommand["conflicts"]): readonly string[] {
  const kinds = [...new Set(conflicts.map(({ fact, by }) => `${fact} was set by ${by}`))];
  return kinds.map((kind) => {
    const its = conflicts.filter(({ fact, by }) => `${fact} was set by ${by}` === kind);
    return `its ${kind} before: ${blockList(its.map(({ block }) => block))}`;
  });
}

function rewritten(tokens: number): string {
  return `~${tokensText(tokens)} tokens behind it anew`;
}

function listed(blocks: readonly number[]): string {
  return `${manyText(blocks.length, "block")}: ${blockList(blocks)}`;
}

/** While the cache is warm; Aperture waits for a moment that costs less. */
export function billText({ costNow, savedEach, paysAfter }: CutBill): string {
  const pays =
    paysAfter === null
      ? "it would never pay for itself"
      : paysAfter <= 1
        ? "it pays at once"
        : `it pays for itself after ~${manyText(paysAfter, "request")}`;
  return `now: ${signed(costNow)} once, ${moneyText(savedEach)} less for every later request; ${pays}`;
}

function signed({ tokens, usd }: Money): string {
  const money = moneyText({ tokens: Math.abs(tokens), usd: usd === null ? null : Math.abs(usd) });
  return `${tokens < 0 ? "-" : "+"}${money}`;
}
