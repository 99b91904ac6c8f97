import type { AnswerUnit } from "../../protocols/index.ts";
import type { TokenGauge } from "../unit-tokens.ts";
import { newPlace } from "./draft.ts";
import type { NumberDraft } from "./numbers.ts";
import { heardFacts, type Offered } from "./own-texts.ts";
import { countOn, forgetHeard, type Place, wholly } from "./place.ts";

/** Answers to one request that nobody has repeated yet: as many as may be asked for at once. */
const heardMax = 256;
const firstHeard = {
  isRewritten: false,
  isFromElsewhere: false,
  original: null,
  first: null,
  showing: wholly,
  isHeader: false,
} as const;
const answerWrapping = { role: "assistant", head: '{"role":"assistant","content":[', tail: "]}" };

/** Hangs an answer below the leaf of its request, and numbers its blocks. */
export function hear(
  leaf: Place,
  units: readonly AnswerUnit[],
  { draft, gauge, offered }: Hearing,
): readonly Place[] {
  const places: Place[] = [];
  for (const [at, answered] of units.entries()) {
    const parent = places.at(-1) ?? leaf;
    const { hash } = answered.unit;
    const known = parent.children.find(({ facts, origin }) => origin === "model" && facts.hash === hash);
    places.push(known ?? hearUnit(parent, answered, { draft, gauge, offered, opens: at === 0 }));
  }
  draft.keep();
  return places;
}

/** What gives a block its number and its size. */
export type Counting = { readonly draft: NumberDraft; readonly gauge: TokenGauge };
type Hearing = Counting & { readonly offered: Offered };
type HearingUnit = Counting & { readonly offered: Offered; readonly opens: boolean };

function hearUnit(parent: Place, { unit, bytes }: AnswerUnit, hearing: HearingUnit): Place {
  const { draft, gauge, offered, opens } = hearing;
  const tokens = gauge.count({ bytes, kind: unit.kind });
  const numbered = draft.number({ key: unit.key, kind: unit.kind, tokens }, () => countOn(parent, unit.key));
  const extra = opens ? "" : null;
  const said = {
    facts: heardFacts(unit, bytes, offered),
    origin: "model",
    wrapping: answerWrapping,
    opens,
    extra,
    numbered,
  } as const;
  const place = newPlace(parent, { ...said, ...firstHeard });
  place.heard = bytes;
  parent.children.push(place);
  forgetHeard(parent, heardMax);
  return place;
}
