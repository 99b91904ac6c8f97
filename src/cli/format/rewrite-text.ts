import type { PricedRewrite } from "../../control/index.ts";
import type { Money } from "../../policy/index.ts";
import { blockList } from "./block-list.ts";
import { tokensText } from "./number-text.ts";
import { printable } from "./printable.ts";

export type LabelledLine = readonly [label: string, text: string];

/** The effect of a rewrite, its expected cost and its real cost, a line each. */
export function rewriteLines(rewrite: PricedRewrite): readonly LabelledLine[] {
  const { epoch, why, blocks, freed, predicted, measured } = rewrite;
  const shown = blocks.length === 0 ? "" : `: ${blockList(blocks)} changed`;
  const lines: (LabelledLine | null)[] = [
    ["rewrite", `${printable(why)}; epoch ${epoch}${shown}${freed === 0 ? "" : `, ${freedText(freed)}`}`],
    predicted === null
      ? null
      : [
          "expected",
          `${moneyText(predicted.rewritten)} for this prompt, ${moneyText(predicted.unchanged)} unchanged; ` +
            `each later one saves ${moneyText(predicted.savedEach)}`,
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

/** Dollars if the price is known, else the equivalent in input tokens. */
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
