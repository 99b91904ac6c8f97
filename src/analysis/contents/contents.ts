import type { BlockKind } from "../../engine/index.ts";
import type { Recording } from "../../transcripts/index.ts";
import type { NameBook } from "../play/name-book.ts";
import type { ClientRequest } from "../play/stream.ts";
import { type CallFacts, callsIn } from "./calls.ts";
import { type Repeats, repeatsIn } from "./repeats.ts";
import { type Carried, carriedIn } from "./walk.ts";

/** Tokens of what has one name: written once, and summed over all prompts that carried it. */
export type Weight = { readonly written: number; readonly carried: number };
export type NamedWeight = Weight & { readonly name: string; readonly blocks: number };

/** A block that took room without being used. */
export type IdleBlock = {
  readonly label: string;
  readonly kind: BlockKind;
  readonly tokens: number;
  /** The first prompt that had it, from 1, and how many had it after an answer used it last. */
  readonly arrived: number;
  readonly usedAt: number | null;
  readonly idlePrompts: number;
};

export type Contents = {
  readonly kinds: Readonly<Partial<Record<BlockKind, Weight>>>;
  readonly tools: readonly NamedWeight[];
  readonly files: readonly NamedWeight[];
  readonly repeats: Repeats;
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

export type ContentsAsked = {
  readonly recording: Recording;
  /** The folder it worked in. */
  readonly project: string | null;
  readonly clients: readonly (readonly ClientRequest[])[];
  readonly books: readonly NameBook[];
};

/** So many rows of each list are worth telling of one session; sums are over all. */
const rowsMax = 40;

export function contentsOf({ recording, project, clients, books }: ContentsAsked): Contents {
  const calls = callsIn(recording, project);
  const streams = clients.map((requests, at) => {
    const book = books[at];
    return book === undefined ? [] : carriedIn(requests, book);
  });
  const all = streams.flat();
  const factsOf = ({ unit }: Carried): CallFacts | null => calls.get(unit.callId ?? "") ?? null;
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

function kindsOf(all: readonly Carried[]): Contents["kinds"] {
  const named = weights(all, ({ unit }) => unit.kind);
  return Object.fromEntries(named.map(({ name, written, carried }) => [name, { written, carried }]));
}

function weights(all: readonly Carried[], nameOf: (one: Carried) => string | null): readonly NamedWeight[] {
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

function idleIn(all: readonly Carried[], factsOf: (one: Carried) => CallFacts | null): Contents["idle"] {
  const results = all.filter(({ unit }) => unit.run === "result");
  const never = results.filter(({ usedAt }) => usedAt === null);
  const total = (of: (one: Carried) => number): number => results.reduce((sum, one) => sum + of(one), 0);
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
