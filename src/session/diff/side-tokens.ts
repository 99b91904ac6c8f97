import { must } from "../../base/index.ts";
import { type Moment, notesOf } from "../../engine/index.ts";
import { tokensAs } from "../read/block-levels.ts";
import { TokenGauge } from "../unit-tokens.ts";
import { bytesIn } from "./body-units.ts";
import type { Side } from "./diff-units.ts";

/** What a unit of a body is likely to take, as we guess it: what a provider has taught is not in it. */
export function guessedSizes(side: Side, moment: Moment): (at: number) => number {
  const gauge = new TokenGauge(side.request.model, 1);
  return (at) => {
    const facts = side.facts?.[at];
    const notes = facts?.block ? notesOf(moment, facts.block.id) : null;
    const known = notes === null || facts === undefined ? null : tokensAs(notes, facts.as);
    if (known !== null && known > 0) return known;
    const unit = must(side.units[at], "it lies in the body");
    return gauge.count({ bytes: bytesIn(side.request, unit), kind: unit.unit.kind });
  };
}

export function guessedTokens(side: Side, moment: Moment): number {
  const sizeOf = guessedSizes(side, moment);
  return side.units.reduce((sum, _, at) => sum + sizeOf(at), 0);
}
