import type { PricedRewrite } from "../../control/index.ts";
import type { Money } from "../../render/index.ts";
import { blockList } from "./blocks.ts";
import { tokensText } from "./numbers.ts";
import { printable } from "./printable.ts";

type Line = readonly [label: string, text: string];

/** What a rewrite did, was expected to cost, and did cost: a line each. */
export function rewriteLines(rewrite: PricedRewrite): readonly Line[] {
  const { epoch, why, blocks, freed, predicted, measured } = rewrite;
  const shown = blocks.length === 0 ? "" : `: ${blockList(blocks)} shown otherwise`;
  const lines: (Line | null)[] = [
    ["rewrite", `${printable(why)}; epoch ${epoch}${shown}${freed === 0 ? "" : `, ${freedText(freed)}`}`],
    predicted === null
      ? null
      : [
          "expected",
          `${moneyText(predicted.rewritten)} for this prompt, ${moneyText(predicted.unchanged)} unchanged; ` +
            `every later one saves ${moneyText(predicted.savedEach)}`,
        ],
    measured === null ? null : ["measured", `${moneyText(measured)} for this prompt${errorText(rewrite)}`],
  ];
  return lines.filter((line) => line !== null);
}

/** For a table: `pressure -41.2k`. */
export function rewriteText({ reason, freed }: PricedRewrite): string {
  const tokens = freed === 0 ? "" : ` ${freed > 0 ? "-" : "+"}${tokensText(Math.abs(freed))}`;
  return `${printable(reason)}${tokens}`;
}

function freedText(freed: number): string {
  return freed > 0 ? `~${tokensText(freed)} tokens freed` : `~${tokensText(-freed)} tokens more`;
}

/** Dollars where they are known; else what as many input tokens cost. */
export function moneyText({ tokens, usd }: Money): string {
  const count = tokensText(Math.round(tokens));
  if (usd === null) return `as much as ${count} input tokens`;
  if (usd > 0 && usd < 0.00005) return "under $0.0001";
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function errorText({ error }: PricedRewrite): string {
  if (error === null) return "";
  const percent = Math.round(Math.abs(error) * 100);
  return percent === 0 ? ", as expected" : `, ${percent} % ${error > 0 ? "more" : "less"} than expected`;
}
