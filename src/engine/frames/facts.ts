import type { BlockId, Turn } from "../../base/index.ts";
import type { Block, Level, Ttl } from "./block.ts";

export const actors = ["user", "client", "model", "sidecar", "policy"] as const;
/**
 * The cause of a frame. The client is the program that speaks for the user: an HTTP client, or an adapter.
 */
export type Actor = (typeof actors)[number];

/** Rank compares actors, never points in time: a fact does not grow stronger with age. */
const rank: Readonly<Record<Actor, number>> = { user: 3, client: 2, model: 2, sidecar: 1, policy: 1 };

/** True for an equal rank too: among equals the later actor wins. */
export function outranks(actor: Actor, other: Actor): boolean {
  return rank[actor] >= rank[other];
}

export type Pin = "none" | "top" | "bottom";
export type Focus = { readonly run: number; readonly until: Turn };
export type Archive = { readonly reason: string };
export type Reference = { readonly turn: Turn; readonly count: number };

/** The facts a view keeps about a block. Lifecycle and zone are derived from them and never stored. */
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
/** A fact that is missing here does not compile. */
const everyFact: Readonly<Record<FactName, true>> = {
  level: true,
  pin: true,
  ttl: true,
  focus: true,
  selection: true,
  archive: true,
  withhold: true,
  reference: true,
  supersession: true,
};
export const factNames = Object.keys(everyFact) as readonly FactName[]; // the record has no other keys

/** A fact remembers who set it: only the user changes a fact the user set. */
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
 * A fact that was never set. It is not stored: it follows from the block's ttl and turn, or is the same for
 * every block.
 */
export function initialFact(block: Block, fact: FactName): Fact {
  if (fact === "ttl") return { value: block.ttl, by: "policy" };
  if (fact === "reference") return { value: { turn: block.turn, count: 0 }, by: "policy" };
  return untouched[fact];
}
