import type { Level } from "../engine/frames/index.ts";
import type { Zone } from "../engine/moment/index.ts";

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

/** One way to point at blocks. Ids are only numbers here: `resolveTarget` looks the blocks up in a view. */
export type Pointer =
  | { readonly by: "block"; readonly first: number; readonly last: number }
  | { readonly by: "message"; readonly first: number; readonly last: number }
  | { readonly by: "zone"; readonly zone: Zone }
  | { readonly by: "stale" }
  | { readonly by: "topic"; readonly words: string };

/** At least one pointer; the target is every block that any of them points at. */
export type Target = readonly Pointer[];

/** A request about memory, by any actor and in any form. */
export type Command =
  | {
      readonly verb: "expand";
      readonly target: Target;
      readonly level: Level;
      /** The character to begin at, for a block that is longer than one answer. */
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
  /** Since a turn; null means since the last one. */
  | { readonly verb: "diff"; readonly since: number | null }
  | { readonly verb: "manifest"; readonly detail: Detail };

/** These verbs need no permission: they change nothing but references. */
const readVerbs = ["expand", "recall", "diff", "manifest"] as const satisfies readonly Verb[];
export type ReadVerb = (typeof readVerbs)[number];

export function isReadVerb(verb: Verb): verb is ReadVerb {
  return readVerbs.some((each) => each === verb);
}

export function isVerb(word: string): word is Verb {
  return verbs.some((verb) => verb === word);
}

/** The reason in a placeholder if the command gave none; only the text form allows that. */
export const noReason = "no reason given";

/** Generous for one command of a model, and small enough that parsing it costs nothing. */
export const commandLimits = {
  commandCharsMax: 20_000,
  /** These three keep the longest possible command, when printed, within `commandCharsMax`. */
  pointersMax: 200,
  topicsMax: 20,
  topicCharsMax: 200,
  memoryCharsMax: 8_000,
} as const;
