import { must, type Seq } from "../base/index.ts";
import type { Shown } from "./block.ts";
import type { Exchange, RecordedExchange } from "./exchange.ts";
import type { Fact } from "./facts.ts";
import type { BlockEntry, FactLog, PermissionLog, RecordedApproval, Step } from "./state.ts";
import { type Versions, versionList, versionsFrom } from "./versions.ts";

/** How an entry of a table is written in a page. Versions become lists, oldest first. */
export type Codec<T> = { readonly encode: (value: T) => unknown; readonly decode: (stored: unknown) => T };

/** For entries that are plain data already. */
export function plain<T>(): Codec<T> {
  return { encode: (value) => value, decode: (stored) => stored as T };
}

type List<T> = readonly (readonly [Seq, T])[];

function read<T>(list: List<T>): Versions<T> {
  return must(versionsFrom(list), "a stored log has at least one version");
}

type StoredBlock = {
  readonly block: BlockEntry["block"];
  readonly notes: List<BlockEntry["notes"]["value"]>;
};
const blocks: Codec<BlockEntry> = {
  encode: ({ block, notes }) => ({ block, notes: versionList(notes) }),
  decode: (stored) => {
    const { block, notes } = stored as StoredBlock;
    return { block, notes: read(notes) };
  },
};

const shown: Codec<Versions<Shown>> = {
  encode: versionList,
  decode: (stored) => read(stored as List<Shown>),
};

const facts: Codec<FactLog> = {
  encode: (log) => mapValues(log as Logs, (versions) => versionList(versions)),
  decode: (stored) => mapValues(stored as Readonly<Record<string, List<Fact>>>, read) as FactLog,
};
type Logs = Readonly<Record<string, Versions<Fact>>>;

/** For entries that are plain data but for one log. */
function logged<T, E extends { readonly log: Versions<T> }>(): Codec<E> {
  return {
    encode: (entry) => ({ ...entry, log: versionList(entry.log) }),
    decode: (stored) => {
      const entry = stored as Omit<E, "log"> & { readonly log: List<T> };
      return { ...entry, log: read(entry.log) } as unknown as E;
    },
  };
}
const steps: Codec<Step> = logged();
const approvals: Codec<RecordedApproval> = logged();
const permissions: Codec<PermissionLog> = logged();

/** Pages from before there was a choice do not say how a body was sent on. */
const exchanges: Codec<RecordedExchange> = {
  encode: (exchange) => exchange,
  decode: (stored) => {
    const exchange = stored as Exchange & Omit<RecordedExchange, "rendering">;
    return { ...exchange, rendering: exchange.rendering ?? "raw" };
  },
};

export const codecs = { blocks, shown, facts, steps, exchanges, approvals, permissions };

function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  map: (value: A) => B,
): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
