import { must, type Seq } from "../base/index.ts";
import type { Shown } from "./frames/block.ts";
import type { Exchange, RecordedExchange } from "./frames/exchange.ts";
import type { Fact } from "./frames/facts.ts";
import type { BlockEntry, FactLog, PermissionLog, RecordedApproval, Step } from "./state.ts";
import { type Versions, versionList, versionsFrom } from "./versions.ts";

/** Writes and reads an entry of a table in a page. Versions become lists, oldest first. */
export type EntryCodec<T> = {
  readonly encode: (value: T) => unknown;
  readonly decode: (stored: unknown) => T;
};

/** For entries that are plain data already. */
export function plainCodec<T>(): EntryCodec<T> {
  return { encode: (value) => value, decode: (stored) => stored as T };
}

type StoredVersions<T> = readonly (readonly [Seq, T])[];

function readVersions<T>(list: StoredVersions<T>): Versions<T> {
  return must(versionsFrom(list), "a stored log has at least one version");
}

type StoredBlock = {
  readonly block: BlockEntry["block"];
  /** The attributes; the name is part of the format. */
  readonly notes: StoredVersions<BlockEntry["attributes"]["value"]>;
};
const blocks: EntryCodec<BlockEntry> = {
  encode: ({ block, attributes }) => ({ block, notes: versionList(attributes) }),
  decode: (stored) => {
    const { block, notes } = stored as StoredBlock;
    return { block, attributes: readVersions(notes) };
  },
};

const shown: EntryCodec<Versions<Shown>> = {
  encode: versionList,
  decode: (stored) => readVersions(stored as StoredVersions<Shown>),
};

const facts: EntryCodec<FactLog> = {
  encode: (log) => mapValues(log as FactVersions, (versions) => versionList(versions)),
  decode: (stored) =>
    mapValues(stored as Readonly<Record<string, StoredVersions<Fact>>>, readVersions) as FactLog,
};
type FactVersions = Readonly<Record<string, Versions<Fact>>>;

/** For entries that are plain data except for one log. */
function logCodec<T, E extends { readonly log: Versions<T> }>(): EntryCodec<E> {
  return {
    encode: (entry) => ({ ...entry, log: versionList(entry.log) }),
    decode: (stored) => {
      const entry = stored as Omit<E, "log"> & { readonly log: StoredVersions<T> };
      return { ...entry, log: readVersions(entry.log) } as unknown as E;
    },
  };
}
const steps: EntryCodec<Step> = logCodec();
const approvals: EntryCodec<RecordedApproval> = logCodec();
const permissions: EntryCodec<PermissionLog> = logCodec();

/** Pages written before there was a choice do not have `rendering`; those bodies were sent raw. */
const exchanges: EntryCodec<RecordedExchange> = {
  encode: (exchange) => exchange,
  decode: (stored) => {
    const exchange = stored as Exchange & Omit<RecordedExchange, "rendering">;
    return { ...exchange, rendering: exchange.rendering ?? "raw" };
  },
};

export const entryCodecs = { blocks, shown, facts, steps, exchanges, approvals, permissions };

function mapValues<A, B>(
  record: Readonly<Record<string, A>>,
  map: (value: A) => B,
): Readonly<Record<string, B>> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
