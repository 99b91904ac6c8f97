import type { BlockId, Turn } from "../base/index.ts";
import type { Block, Level, Ttl } from "./block.ts";

export const actors = ["user", "client", "model", "sidecar", "policy"] as const;
/** Who caused a frame. The client is the program that speaks for the user: an HTTP client, or an adapter. */
export type Actor = (typeof actors)[number];

/** Rank decides between actors, never between moments: a fact does not grow stronger with age. */
const rank: Readonly<Record<Actor, number>> = { user: 3, client: 2, model: 2, sidecar: 1, policy: 1 };

/** Or equals: among equals the later wins. */
export function outranks(actor: Actor, other: Actor): boolean {
  return rank[actor] >= rank[other];
}

export type Pin = "none" | "top" | "bottom";
export type Focus = { readonly run: number; readonly until: Turn };
export type Archive = { readonly reason: string };
export type Reference = { readonly turn: Turn; readonly count: number };

/**
 * What a view holds true of a block. Lifecycle and zone are names for combinations of these, never stored.
 */
export type FactValues = {
  readonly level: Level;
  readonly pin: Pin;
  readonly ttl: Ttl | null;
  readonly focus: Focus | null;
  readonly selection: boolean;
  readonly archive: Archive | null;
  readonly withhold: boolean;
  readonly reference: Reference;
  readonly supersession: BlockId | null;
};

export type FactName = keyof FactValues;
export const factNames = [
  "level",
  "pin",
  "ttl",
  "focus",
  "selection",
  "archive",
  "withhold",
  "reference",
  "supersession",
] as const satisfies readonly FactName[];

/** A fact remembers who set it: what the user set, only the user changes. */
export type Fact<F extends FactName = FactName> = { readonly value: FactValues[F]; readonly by: Actor };
export type Facts = { readonly [F in FactName]: Fact<F> };

const untouched: Omit<Facts, "ttl" | "reference"> = {
  level: { value: "original", by: "policy" },
  pin: { value: "none", by: "policy" },
  focus: { value: null, by: "policy" },
  selection: { value: false, by: "policy" },
  archive: { value: null, by: "policy" },
  withhold: { value: false, by: "policy" },
  supersession: { value: null, by: "policy" },
};

/**
 * A fact nobody has touched. It is not stored: a block brings only its ttl and its turn, all else is the
 * same.
 */
export function initialFact(block: Block, fact: FactName): Fact {
  if (fact === "ttl") return { value: block.ttl, by: "policy" };
  if (fact === "reference") return { value: { turn: block.turn, count: 0 }, by: "policy" };
  return untouched[fact];
}
