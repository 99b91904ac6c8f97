import { must, type Seq } from "../../base/index.ts";
import {
  type Actor,
  asOf,
  type FactName,
  factOf,
  factVersion,
  type Moment,
  type Place,
  pairOf,
  placeOf,
  type View,
} from "../../engine/index.ts";
import { spokenIn } from "../../protocols/index.ts";
import { rewriteWords } from "../read/act-words.ts";
import { type DiffReason, plainReason } from "./reason.ts";
import type { SentFacts } from "./sent-facts.ts";

/** Where reasons are looked up. Null: the exchange belongs to no view. */
export type Witness = { readonly moment: Moment; readonly view: View | null };

const actorWords: Readonly<Record<Actor, string>> = {
  user: "you",
  client: "the client",
  model: "the model",
  sidecar: "background work",
  policy: "policy",
};

/** Why less of a block is shown than there is, by whom it was wanted, and since which rewrite. */
export function loweredReasons(witness: Witness, facts: SentFacts): readonly DiffReason[] {
  const place = placeThen(witness, facts);
  const wanted = place === null ? null : (withheldReason(place) ?? archiveReason(place));
  const rewrite = rewriteReason(witness, facts);
  if (wanted !== null) return [wanted, ...rewrite];
  const level = facts.as === "placeholder" ? plainPruned : levelReason(place, facts);
  const isFirst = level.by === null && rewrite.length === 0 && facts.as === "trimmed";
  return [isFirst ? trimmedAtOnce : level, ...rewrite];
}

/** Whether the user does not want a block to be sent. */
export function withheldAt(witness: Witness, facts: SentFacts): DiffReason | null {
  const place = placeThen(witness, facts);
  return place === null ? null : withheldReason(place);
}

/** The block as it stood when the unit was first sent: what was wanted then is why it was sent so. */
function placeThen({ moment, view }: Witness, { block, seq }: SentFacts): Place | null {
  if (view === null || block === null) return null;
  const then = seq === null ? moment : asOf(moment, seq as Seq);
  return placeOf(then, view, block.id);
}

function withheldReason(place: Place): DiffReason | null {
  const found = pairOf(place).find((member) => factOf(member, "withhold").value === true);
  if (found === undefined) return null;
  const { by, seq } = whoSet(found, "withhold");
  return {
    code: "withheld",
    words: `Withheld by ${actorWords[by]}: it must not be sent.`,
    by,
    seq,
    why: null,
  };
}

function archiveReason(place: Place): DiffReason | null {
  const found = [place, ...pairOf(place)].find((member) => factOf(member, "archive").value !== null);
  const archive = found === undefined ? null : factOf(found, "archive").value;
  if (found === undefined || archive === null || typeof archive !== "object") return null;
  const { by, seq } = whoSet(found, "archive");
  const said = "reason" in archive && archive.reason !== "" ? `: ${archive.reason}` : "";
  const words = `Pruned by ${actorWords[by]}${said}. A placeholder stands for it; the original is kept.`;
  return { code: "pruned", words, by, seq, why: null };
}

const plainPruned: DiffReason = {
  code: "pruned",
  words: "A placeholder stands for it; the original is kept.",
  by: null,
  seq: null,
  why: null,
};

const trimmedAtOnce: DiffReason = {
  code: "arrival",
  words: "Shown trimmed on arrival, because it is large. The original is kept.",
  by: "policy",
  seq: null,
  why: null,
};

const levelWords = {
  original: "whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "cut to one line",
  placeholder: "pruned",
  absent: "not at all",
} as const;

function levelReason(place: Place | null, { as }: SentFacts): DiffReason {
  const shown = `Shown ${levelWords[as]}`;
  const level = place === null ? null : factOf(place, "level");
  if (place === null || level === null || level.value === "original") {
    return { code: "level", words: `${shown}; the original is kept.`, by: null, seq: null, why: null };
  }
  const { by, seq } = whoSet(place, "level");
  const words = `${shown}, as ${actorWords[by]} wanted; the original is kept.`;
  return { code: "level", words, by, seq, why: null };
}

type Who = { readonly by: Actor; readonly seq: number | null };

function whoSet(place: Place, fact: FactName): Who {
  return { by: factOf(place, fact).by, seq: factVersion(place, fact)?.seq ?? null };
}

/** The rewrite with which a unit was first sent as it is; none where it came as an addition. */
function rewriteReason({ view }: Witness, { seq }: SentFacts): readonly DiffReason[] {
  if (view === null || seq === null) return [];
  const epoch = epochAt(view, seq);
  if (epoch === null) return [];
  const words = `Since rewrite ${epoch.number}: ${rewriteWords[epoch.reason]}.`;
  return [{ code: "rewrite", words, by: null, seq: epoch.seq, why: null }];
}

/** The epoch and the turn that begins it are one frame, or neighbours if there is very much in it. */
function epochAt(view: View, seq: number) {
  for (let at = view.epochs.size - 1; at >= 0; at -= 1) {
    const epoch = must(view.epochs.get(at), "epochs have no gaps");
    if (epoch.seq > seq) continue;
    const carrier = [...view.sent.entries()].find(([, sent]) => sent.seq >= epoch.seq)?.[1];
    const isWithin = carrier !== undefined && seq <= carrier.seq;
    return isWithin ? { number: at + 1, reason: epoch.reason, seq: epoch.seq } : null;
  }
  return null;
}

/** Why reasoning that the client sends did not go up. */
export function reasoningReasons(witness: Witness, isPlain: boolean): readonly DiffReason[] {
  const words = isPlain
    ? "Left out: it was made behind something of ours that is not sent now, and the provider would refuse it."
    : "Left out: it is bound to what stood before it, which was written anew since; the provider would refuse it.";
  return [{ code: "reasoning", words, by: null, seq: lastEpochSeq(witness), why: null }];
}

function lastEpochSeq({ moment, view }: Witness): number | null {
  const last = view?.epochs.get(view.epochs.size - 1) ?? null;
  return last === null || last.seq > moment.seq ? null : last.seq;
}

const escapeMark = "\u001b";
const repeated = /^\[\w+ the line above stands here \d+ times\]$/m;
const reference = /^\[\w+ [^\n]*: same as [^\n]*in #(\d+), from its line \d+[^\n]*\]$/gm;

/**
 * What was left out of a result when it was first shown, as far as it shows. Null: nothing shows, so that
 * only the log can tell.
 */
export function arrivalReason({ before, after }: Words): DiffReason | null {
  const [said, shown] = [textOf(before), textOf(after)];
  if (/^\[Part ID: |^--- Message ID: /.test(shown)) {
    return { ...plainReason("header"), words: "A header stands in front of it: its number and its size." };
  }
  const lent = [...new Set([...shown.matchAll(reference)].map(([, block]) => `#${block}`))];
  const isLess = (sign: string): boolean => said.includes(sign) && !shown.includes(sign);
  const what = [
    isLess(escapeMark) ? ["colours and other control of a screen"] : [],
    isLess("\r") ? ["earlier states of progress"] : [],
    repeated.test(shown) ? ["lines equal to the one above"] : [],
    lent.length > 0 ? [`lines that stand in ${lent.join(" ")} already`] : [],
  ].flat();
  return what.length === 0 ? null : { ...arrived, words: arrivedWords(what.join(", ")) };
}

const arrivedWords = (what: string): string => `Shown on arrival without ${what}. The original is kept.`;

/** The log says that all of it is shown, in other words than it came in. */
export const arrived: DiffReason = {
  code: "arrival",
  words: arrivedWords("what loses nothing"),
  by: "policy",
  seq: null,
  why: null,
};
export type Words = { readonly before: Uint8Array; readonly after: Uint8Array };

function textOf(bytes: Uint8Array): string {
  const spoken = spokenIn(bytes);
  return spoken?.type === "result" || spoken?.type === "text" ? spoken.text : "";
}
