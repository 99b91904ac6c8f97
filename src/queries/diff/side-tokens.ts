import { must } from "../../base/index.ts";
import { attributesOf, type Moment } from "../../engine/moment/index.ts";
import { TokenCounter } from "../../tokens/index.ts";
import { tokensAs } from "../block-levels.ts";
import { bodyUnitBytes } from "./body-units.ts";
import type { DiffSide } from "./diff-units.ts";

/** Estimates the size of a unit, without correction by the provider's counts. */
export function estimateUnits(side: DiffSide, moment: Moment): (at: number) => number {
  const counter = new TokenCounter(side.request.model, 1);
  return (at) => {
    const facts = side.facts?.[at];
    const attributes = facts?.block ? attributesOf(moment, facts.block.id) : null;
    const counted = attributes === null || facts === undefined ? null : tokensAs(attributes, facts.as);
    if (counted !== null && counted > 0) return counted;
    const unit = must(side.units[at], "it lies in the body");
    const { kind, protocol } = unit.unit;
    return counter.count({ bytes: bodyUnitBytes(side.request, unit), kind, form: protocol });
  };
}

export function estimateSide(side: DiffSide, moment: Moment): number {
  const tokensOf = estimateUnits(side, moment);
  return side.units.reduce((sum, _, at) => sum + tokensOf(at), 0);
}
