import type { Level, Zone } from "../engine/index.ts";

/** What can be asked about memory. */
export const verbs = [
  "expand",
  "recall",
  "compress",
  "pin",
  "unpin",
  "focus",
  "archive",
  "update",
  "create",
  "diff",
  "manifest",
] as const;
export type Verb = (typeof verbs)[number];

export const zones = ["primacy", "middle", "recency", "cold"] as const satisfies readonly Zone[];
export const lowerLevels = ["trimmed", "summarized", "minimal"] as const satisfies readonly Level[];
export const positions = ["top", "bottom"] as const;
export const details = ["summary", "detailed"] as const;

export type LowerLevel = (typeof lowerLevels)[number];
export type Position = (typeof positions)[number];
export type Detail = (typeof details)[number];

/** One way to point at blocks. Ids are only numbers here: whether there are such blocks a view decides. */
export type Pointer =
  | { readonly by: "block"; readonly first: number; readonly last: number }
  | { readonly by: "message"; readonly first: number; readonly last: number }
  | { readonly by: "zone"; readonly zone: Zone }
  | { readonly by: "stale" }
  | { readonly by: "topic"; readonly words: string };

/** At least one pointer; what any of them points at is meant. */
export type Target = readonly Pointer[];

/** A request about memory, by whomever and in whichever form it arrived. */
export type Command =
  | {
      readonly verb: "expand";
      readonly target: Target;
      readonly level: Level;
      /** The character to begin at, where more was there than fits into an answer. */
      readonly from?: number;
    }
  | { readonly verb: "recall"; readonly target: Target }
  | { readonly verb: "compress"; readonly target: Target; readonly level: LowerLevel }
  | { readonly verb: "pin"; readonly target: Target; readonly position: Position }
  | { readonly verb: "unpin"; readonly target: Target }
  | { readonly verb: "focus"; readonly target: Target }
  | { readonly verb: "archive"; readonly target: Target; readonly reason: string }
  | { readonly verb: "update"; readonly block: number; readonly text: string }
  | {
      readonly verb: "create";
      readonly text: string;
      readonly topic: string | null;
      readonly supersedes: number | null;
    }
  /** Since which turn; null means since the last one. */
  | { readonly verb: "diff"; readonly since: number | null }
  | { readonly verb: "manifest"; readonly detail: Detail };

/** Reading changes nothing that anybody would have to allow. */
export const readingVerbs = ["expand", "recall", "diff", "manifest"] as const satisfies readonly Verb[];
export type ReadingVerb = (typeof readingVerbs)[number];

export function isReading(verb: Verb): verb is ReadingVerb {
  return readingVerbs.some((each) => each === verb);
}

export function isVerb(word: string): word is Verb {
  return verbs.some((verb) => verb === word);
}

/** What stands in a placeholder where nobody gave a reason; only the text form lets one leave it out. */
export const noReason = "no reason given";

/** Generous for what a model says at once, and small enough that reading it costs nothing. */
export const commandLimits = {
  commandCharsMax: 20_000,
  /** With these three the longest command of all can be printed within its limit. */
  pointersMax: 200,
  topicsMax: 20,
  topicCharsMax: 200,
  noteCharsMax: 8_000,
} as const;
