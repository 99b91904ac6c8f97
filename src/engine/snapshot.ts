import {
  type FrameHash,
  fail,
  ok,
  PagedTable,
  type Result,
  type Seq,
  sha256Hex,
  TablePage,
} from "../base/index.ts";
import type { Mode } from "./frames/approval.ts";
import { type EntryCodec, entryCodecs, plainCodec } from "./snapshot-codec.ts";
import type { State, Stream, View } from "./state.ts";
import { versionList, versionsFrom } from "./versions.ts";

/**
 * A state as pages. A page is named by the hash of its text. Pages that did not change since the last
 * snapshot are the same object and are neither encoded nor written again, so a snapshot costs what changed.
 */
export type StatePages = {
  readonly session: State["session"];
  readonly seq: Seq;
  readonly hash: FrameHash;
  readonly root: string;
  readonly pageHashes: readonly string[];
  readonly pages: ReadonlyMap<string, Uint8Array>;
};

export const snapshotFormat = 2;

/** Pages encoded between two pauses: about a millisecond's work. */
const pagesPerSlice = 8;

/**
 * Encodes a state as pages, a few at a time, for callers that have other things to do. Pages in `known` are
 * named but not included. The state is immutable, so frames that come meanwhile do not disturb the snapshot.
 */
export function* stateToPagesInSlices(state: State, known: ReadonlySet<string>): Generator<void, StatePages> {
  const writer = new PageWriter(known);
  yield* writer.prepare(bulkPages(state));
  const { session, seq, hash, next, identity, mode, name } = state;
  const root = {
    format: snapshotFormat,
    session,
    seq,
    hash,
    next,
    identity,
    mode: versionList(mode),
    name: versionList(name),
    streams: [...state.streams.entries()].map(([, stream]) => writeStream(writer, stream)),
    views: [...state.views.entries()].map(([, view]) => writeView(writer, view)),
    blocks: writer.table(state.blocks, entryCodecs.blocks),
    messages: writer.table(state.messages, plainCodec()),
    pairs: writer.table(state.pairs, plainCodec()),
    units: writer.table(state.units, plainCodec()),
    steps: writer.table(state.steps, entryCodecs.steps),
    exchanges: writer.table(state.exchanges, entryCodecs.exchanges),
    approvals: writer.table(state.approvals, entryCodecs.approvals),
  };
  const pageHashes = [...writer.named];
  return { session, seq, hash, root: JSON.stringify(root), pageHashes, pages: writer.fresh };
}

/**
 * Encoders for the pages that hold most of a state. The remaining pages are encoded together with the root.
 */
function* bulkPages(state: State): Generator<PageEncoder> {
  yield* pageEncoders(state.blocks, entryCodecs.blocks);
  yield* pageEncoders(state.units, plainCodec());
  yield* pageEncoders(state.messages, plainCodec());
  yield* pageEncoders(state.exchanges, entryCodecs.exchanges);
  for (const [, view] of state.views.entries()) {
    yield* pageEncoders(view.facts, entryCodecs.facts);
    yield* pageEncoders(view.shown, entryCodecs.shown);
  }
}

type PageEncoder = (writer: PageWriter) => void;

function* pageEncoders<T>(table: PagedTable<T>, codec: EntryCodec<T>): Generator<PageEncoder> {
  for (const [, page] of table.pages()) yield (writer) => writer.write(page, codec);
}

/**
 * Restores a state. Its pages are decoded when first read. A missing page, or a root that does not fit the
 * snapshot, fails all of it.
 */
export function stateFromPages(stored: StatePages): Result<State> {
  try {
    const root = JSON.parse(stored.root) as SnapshotRoot;
    const reader = new PageReader(stored.pages);
    const { session, seq, hash, next, identity } = root;
    const same = session === stored.session && seq === stored.seq && hash === stored.hash;
    if (root.format !== snapshotFormat || !same) return fail("AP_SNAPSHOT_DAMAGED", { seq: stored.seq });
    return ok({
      session,
      seq,
      hash,
      next,
      identity,
      streams: byId(root.streams.map((stream) => readStream(reader, stream))),
      views: byId(root.views.map((view) => readView(reader, view))),
      blocks: reader.table(root.blocks, entryCodecs.blocks),
      messages: reader.table(root.messages, plainCodec()),
      pairs: reader.table(root.pairs, plainCodec()),
      units: reader.table(root.units, plainCodec()),
      steps: reader.table(root.steps, entryCodecs.steps),
      exchanges: reader.table(root.exchanges, entryCodecs.exchanges),
      approvals: reader.table(root.approvals ?? emptyTable, entryCodecs.approvals),
      mode: versionsFrom(root.mode ?? []),
      name: versionsFrom(root.name ?? []),
    });
  } catch {
    return fail("AP_SNAPSHOT_DAMAGED", { seq: stored.seq });
  }
}

/** A table in the root: its size and, by number, the pages it has. */
type TableRef = { readonly size: number; readonly pages: readonly (readonly [number, string])[] };
type StoredTables<T> = { readonly [K in keyof T]: T[K] extends PagedTable<infer _> ? TableRef : T[K] };
type SnapshotRoot = StoredTables<Omit<State, "streams" | "views" | "approvals" | "mode" | "name">> & {
  readonly format: number;
  readonly streams: readonly StoredTables<Stream>[];
  readonly views: readonly StoredView[];
  /** Absent, like `mode`, in snapshots written before there were approvals. */
  readonly approvals?: TableRef;
  readonly mode?: readonly (readonly [Seq, Mode | null])[];
  /** Absent in snapshots written before sessions could be named. */
  readonly name?: readonly (readonly [Seq, string | null])[];
};
type StoredView = StoredTables<Omit<View, "permissions">> & { readonly permissions?: TableRef };
const emptyTable: TableRef = { size: 0, pages: [] };

function writeStream(writer: PageWriter, stream: Stream): StoredTables<Stream> {
  return {
    ...stream,
    blocks: writer.table(stream.blocks, plainCodec()),
    turns: writer.table(stream.turns, plainCodec()),
    runs: writer.table(stream.runs, plainCodec()),
    due: writer.table(stream.due, plainCodec()),
  };
}

function readStream(reader: PageReader, stream: StoredTables<Stream>): Stream {
  return {
    ...stream,
    blocks: reader.table(stream.blocks, plainCodec()),
    turns: reader.table(stream.turns, plainCodec()),
    runs: reader.table(stream.runs, plainCodec()),
    due: reader.table(stream.due, plainCodec()),
  };
}

function writeView(writer: PageWriter, view: View): StoredView {
  return {
    ...view,
    facts: writer.table(view.facts, entryCodecs.facts),
    shown: writer.table(view.shown, entryCodecs.shown),
    sent: writer.table(view.sent, plainCodec()),
    answers: writer.table(view.answers, plainCodec()),
    epochs: writer.table(view.epochs, plainCodec()),
    due: writer.table(view.due, plainCodec()),
    permissions: writer.table(view.permissions, entryCodecs.permissions),
  };
}

function readView(reader: PageReader, view: StoredView): View {
  return {
    ...view,
    facts: reader.table(view.facts, entryCodecs.facts),
    shown: reader.table(view.shown, entryCodecs.shown),
    sent: reader.table(view.sent, plainCodec()),
    answers: reader.table(view.answers, plainCodec()),
    epochs: reader.table(view.epochs, plainCodec()),
    due: reader.table(view.due, plainCodec()),
    permissions: reader.table(view.permissions ?? emptyTable, entryCodecs.permissions),
  };
}

function byId<T extends { readonly id: number }>(items: readonly T[]): PagedTable<T> {
  return items.reduce((table, item) => table.with(item.id, item), PagedTable.empty<T>());
}

/** The name each page was written under. Pages are immutable, so a name never changes. */
const writtenPageNames = new WeakMap<object, string>();

class PageWriter {
  readonly named = new Set<string>();
  readonly fresh = new Map<string, Uint8Array>();
  readonly #known: ReadonlySet<string>;

  constructor(known: ReadonlySet<string>) {
    this.#known = known;
  }

  /** Encodes pages ahead, pausing now and then. */
  *prepare(pages: Iterable<PageEncoder>): Generator<void> {
    for (const encode of pages) {
      const before = this.fresh.size;
      encode(this);
      if (this.fresh.size > before && this.fresh.size % pagesPerSlice === 0) yield;
    }
  }

  table<T>(table: PagedTable<T>, codec: EntryCodec<T>): TableRef {
    const pages = [...table.pages()].map(([index, page]) => [index, this.write(page, codec)] as const);
    return { size: table.size, pages };
  }

  write<T>(page: TablePage<T>, codec: EntryCodec<T>): string {
    const named = writtenPageNames.get(page);
    const isWritten = named !== undefined && (this.#known.has(named) || this.fresh.has(named));
    const name = isWritten ? named : this.#encode(page, codec);
    this.named.add(name);
    return name;
  }

  #encode<T>(page: TablePage<T>, codec: EntryCodec<T>): string {
    const text = JSON.stringify(page.items.map((item) => (item === undefined ? null : codec.encode(item))));
    const name = sha256Hex(text).slice(0, 32);
    writtenPageNames.set(page, name);
    if (!this.#known.has(name)) this.fresh.set(name, Buffer.from(text));
    return name;
  }
}

class PageReader {
  readonly #pages: ReadonlyMap<string, Uint8Array>;

  constructor(pages: ReadonlyMap<string, Uint8Array>) {
    this.#pages = pages;
  }

  table<T>(ref: TableRef, codec: EntryCodec<T>): PagedTable<T> {
    return PagedTable.fromPages(
      ref.size,
      ref.pages.map(([index, name]) => [index, this.#page(name, codec)] as const),
    );
  }

  #page<T>(name: string, codec: EntryCodec<T>): TablePage<T> {
    const bytes = this.#pages.get(name);
    if (bytes === undefined) throw new Error(`page ${name} is missing`);
    const page = new TablePage<T>(() => {
      const items = JSON.parse(Buffer.from(bytes).toString("utf8")) as readonly unknown[];
      return items.map((item) => (item === null ? undefined : codec.decode(item)));
    });
    writtenPageNames.set(page, name);
    return page;
  }
}
