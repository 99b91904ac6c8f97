import {
  type BlockKind,
  factValue,
  isWithheld,
  levels,
  notesOf,
  type Place,
  type Shown,
  wantedOf,
} from "../engine/index.ts";
import { type Spoken, spokenIn, type Words } from "../protocols/index.ts";
import { hintOf, levelLine, placeholder, withoutNonce } from "../render/index.ts";
import { type LevelWords, levelWords } from "../session/index.ts";

/** How a block is shown, and in which words where they are not its own. */
export type Showing = { readonly as: Shown; readonly words: Words | null };

/** What a model said stays as it was: a line of ours in its mouth would teach it to write such lines. */
const shortenedKinds: readonly BlockKind[] = [
  "user",
  "tool-call",
  "tool-result",
  "media",
  "memory",
  "notice",
];

export const wholly: Showing = { as: "original", words: null };

export type ShowingAsked = {
  readonly bytes: Uint8Array;
  readonly nonce: string;
  readonly model: string | null;
  /** At most so much of it, whatever is wanted: there is no room for more. */
  readonly atMost?: Shown;
};

/** As it is wanted, as far as there are words for that. */
export function showingOf(place: Place, asked: ShowingAsked): Showing {
  const as = asked.atMost ?? wantedOf(place);
  const spoken =
    as === "original" || !shortenedKinds.includes(place.block.kind) ? null : spokenIn(asked.bytes);
  if (spoken === null) return wholly;
  if (as === "placeholder") return { as, words: prunedWords(place, spoken, asked) };
  const { kind } = place.block;
  const { words } = levelWords({
    kind,
    spoken,
    call: null,
    tokens: tokensOf(place),
    model: asked.model,
  });
  const level = levels.slice(1, levels.indexOf(as as (typeof levels)[number]) + 1).findLast((one) => {
    return words.some(([made]) => made === one);
  });
  const made = words.find(([one]) => one === level)?.[1];
  return level === undefined || made === undefined
    ? wholly
    : { as: level, words: wordsAs(place, level, { ...made, nonce: asked.nonce }) };
}

function wordsAs(
  place: Place,
  as: Shown,
  { text, input, nonce }: LevelWords & { readonly nonce: string },
): Words {
  const line = levelLine(nonce, { block: place.block.id, as, tokens: tokensOf(place) });
  return input === null
    ? { text: `${withoutNonce(text ?? "", nonce)}\n${line}`, keepsMedia: as === "trimmed" }
    : { input: { ...input, _: line } };
}

function prunedWords(place: Place, spoken: Spoken, { nonce, atMost }: ShowingAsked): Words {
  const { id: block, kind, turn } = place.block;
  const isGone = isWithheld(place) || (notesOf(place.moment, block)?.purged ?? false);
  const said = spoken.type === "call" || isGone ? "" : spoken.text;
  const header = { block, kind, tokens: tokensOf(place), exact: false, ttl: null, state: null } as const;
  const why =
    factValue(place, "archive")?.reason ?? (atMost === undefined ? null : "there is no room for it");
  const reason = isGone ? "withheld" : why;
  const pruned = { block: header, reason, hint: hintOf(said), isKept: !isGone };
  const text = placeholder({ nonce, mode: "compact", turn }, pruned);
  return spoken.type === "call" ? { input: { _: text } } : { text, keepsMedia: false };
}

function tokensOf({ moment, block }: Place): number {
  return notesOf(moment, block.id)?.tokens?.count ?? 0;
}
