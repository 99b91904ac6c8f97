import type { BlockKind } from "../../engine/frames/index.ts";
import type { Recording } from "../../transcripts/index.ts";
import type { ClientRequest } from "../play/stream-player.ts";
import type { UnitNames } from "../play/unit-names.ts";
import { type CallFacts, callsIn } from "./call-facts.ts";
import { type CarriedUnit, carriedUnits } from "./carried-units.ts";
import { type RepeatedResults, repeatsIn } from "./repeated-results.ts";

/** Tokens of content: counted once (`written`), and summed over all prompts that carried it (`carried`). */
export type Weight = { readonly written: number; readonly carried: number };
export type NamedWeight = Weight & { readonly name: string; readonly blocks: number };

/** A block that prompts carried without using it. */
export type IdleBlock = {
  readonly label: string;
  readonly kind: BlockKind;
  readonly tokens: number;
  /** The first prompt that carried it; prompts count from 1. */
  readonly arrived: number;
  /** The last prompt whose answer used it. Null if none did. */
  readonly usedAt: number | null;
  /** How many prompts carried it after that. */
  readonly idlePrompts: number;
};

export type RecordedContents = {
  readonly kinds: Readonly<Partial<Record<BlockKind, Weight>>>;
  readonly tools: readonly NamedWeight[];
  readonly files: readonly NamedWeight[];
  readonly repeats: RepeatedResults;
  readonly idle: {
    readonly results: number;
    readonly neverUsed: number;
    readonly neverUsedTokens: number;
    /** Results summed over all prompts, and over those after their last use. */
    readonly carried: number;
    readonly idleCarried: number;
    readonly blocks: readonly IdleBlock[];
  };
};

export type RecordedContentsInput = {
  readonly recording: Recording;
  /** The folder the client worked in. */
  readonly project: string | null;
  readonly clients: readonly (readonly ClientRequest[])[];
  readonly unitNames: readonly UnitNames[];
};

/** Maximum rows of each list of one session; sums are over all. */
const rowsMax = 40;

export function recordedContents({
  recording,
  project,
  clients,
  unitNames,
}: RecordedContentsInput): RecordedContents {
  const calls = callsIn(recording, project);
  const streams = clients.map((requests, at) => {
    const streamNames = unitNames[at];
    return streamNames === undefined ? [] : carriedUnits(requests, streamNames);
  });
  const all = streams.flat();
  const factsOf = ({ unit }: CarriedUnit): CallFacts | null => calls.get(unit.callId ?? "") ?? null;
  const tools = weights(all, (one) => factsOf(one)?.tool ?? null);
  const files = weights(all, (one) => factsOf(one)?.file ?? null);
  return {
    kinds: kindsOf(all),
    tools: tools.slice(0, rowsMax),
    files: files.slice(0, rowsMax),
    repeats: repeatsIn(streams, calls, rowsMax),
    idle: idleIn(all, factsOf),
  };
}

function kindsOf(all: readonly CarriedUnit[]): RecordedContents["kinds"] {
  const named = weights(all, ({ unit }) => unit.kind);
  return Object.fromEntries(named.map(({ name, written, carried }) => [name, { written, carried }]));
}

function weights(
  all: readonly CarriedUnit[],
  nameOf: (one: CarriedUnit) => string | null,
): readonly NamedWeight[] {
  const sums = new Map<string, { written: number; carried: number; blocks: number }>();
  for (const one of all) {
    const name = nameOf(one);
    if (name === null) continue;
    const sum = sums.get(name) ?? { written: 0, carried: 0, blocks: 0 };
    sum.written += one.unit.tokens;
    sum.carried += one.unit.tokens * one.prompts;
    sum.blocks += 1;
    sums.set(name, sum);
  }
  const rows = [...sums].map(([name, sum]) => ({ name, ...sum }));
  return rows.sort((a, b) => b.carried - a.carried || (a.name < b.name ? -1 : 1));
}

function idleIn(
  all: readonly CarriedUnit[],
  factsOf: (one: CarriedUnit) => CallFacts | null,
): RecordedContents["idle"] {
  const results = all.filter(({ unit }) => unit.run === "result");
  const never = results.filter(({ usedAt }) => usedAt === null);
  const total = (of: (one: CarriedUnit) => number): number => results.reduce((sum, one) => sum + of(one), 0);
  const blocks = results
    .map((one) => ({
      label: factsOf(one)?.label ?? "a result",
      kind: one.unit.kind,
      tokens: one.unit.tokens,
      arrived: one.arrived + 1,
      usedAt: one.usedAt === null ? null : one.usedAt + 1,
      idlePrompts: one.idlePrompts,
    }))
    .sort((a, b) => b.tokens * b.idlePrompts - a.tokens * a.idlePrompts);
  return {
    results: results.length,
    neverUsed: never.length,
    neverUsedTokens: never.reduce((sum, { unit }) => sum + unit.tokens, 0),
    carried: total(({ unit, prompts }) => unit.tokens * prompts),
    idleCarried: total(({ unit, idlePrompts }) => unit.tokens * idlePrompts),
    blocks: blocks.slice(0, rowsMax),
  };
}
