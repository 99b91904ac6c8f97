import { type FrameHash, fail, ok, type Result, type Seq, sha256Hex } from "../base/index.ts";
import type { Mode } from "./approval.ts";
import { Page, Paged } from "./paged.ts";
import { type Codec, codecs, plain } from "./snapshot-codec.ts";
import type { State, Stream, View } from "./state.ts";
import { versionList, versionsFrom } from "./versions.ts";

/**
 * A state as pages. A page is named by the hash of its text; pages that did not change since the last
 * snapshot are the same object, are not written again and not even looked at, so a snapshot costs what
 * changed.
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

/** Pages already in `known` are named but not brought along. */
export function toPages(state: State, known: ReadonlySet<string>): StatePages {
  const slices = toPagesInSlices(state, known);
  for (let slice = slices.next(); ; slice = slices.next()) if (slice.done) return slice.value;
}

/** How many pages are encoded between two pauses: about a millisecond's work. */
const pagesPerSlice = 8;

/**
 * The same, a few pages at a time, for callers that have other things to do. The state is immutable, so what
 * happens meanwhile is not in the snapshot and does not disturb it.
 */
export function* toPagesInSlices(state: State, known: ReadonlySet<string>): Generator<void, StatePages> {
  const writer = new PageWriter(known);
  yield* writer.prepare(pagesOf(state));
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
    blocks: writer.table(state.blocks, codecs.blocks),
    messages: writer.table(state.messages, plain()),
    pairs: writer.table(state.pairs, plain()),
    units: writer.table(state.units, plain()),
    steps: writer.table(state.steps, codecs.steps),
    exchanges: writer.table(state.exchanges, codecs.exchanges),
    approvals: writer.table(state.approvals, codecs.approvals),
  };
  const pageHashes = [...writer.named];
  return { session, seq, hash, root: JSON.stringify(root), pageHashes, pages: writer.fresh };
}

/** The pages the bulk of a state lies in, each with how to encode it. What is left out goes with the root. */
function* pagesOf(state: State): Generator<Encodable> {
  yield* encodable(state.blocks, codecs.blocks);
  yield* encodable(state.units, plain());
  yield* encodable(state.messages, plain());
  yield* encodable(state.exchanges, codecs.exchanges);
  for (const [, view] of state.views.entries()) {
    yield* encodable(view.facts, codecs.facts);
    yield* encodable(view.shown, codecs.shown);
  }
}

type Encodable = (writer: PageWriter) => void;

function* encodable<T>(table: Paged<T>, codec: Codec<T>): Generator<Encodable> {
  for (const [, page] of table.pages()) yield (writer) => writer.write(page, codec);
}

/**
 * Pages are decoded when first looked at. A page that is missing or not what it claims fails the whole
 * snapshot.
 */
export function fromPages(stored: StatePages): Result<State> {
  try {
    const root = JSON.parse(stored.root) as Root;
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
      blocks: reader.table(root.blocks, codecs.blocks),
      messages: reader.table(root.messages, plain()),
      pairs: reader.table(root.pairs, plain()),
      units: reader.table(root.units, plain()),
      steps: reader.table(root.steps, codecs.steps),
      exchanges: reader.table(root.exchanges, codecs.exchanges),
      approvals: reader.table(root.approvals ?? noTable, codecs.approvals),
      mode: versionsFrom(root.mode ?? []),
      name: versionsFrom(root.name ?? []),
    });
  } catch {
    return fail("AP_SNAPSHOT_DAMAGED", { seq: stored.seq });
  }
}

/** A table in the root: its size and, by number, the pages it has. */
type TableRef = { readonly size: number; readonly pages: readonly (readonly [number, string])[] };
type Stored<T> = { readonly [K in keyof T]: T[K] extends Paged<infer _> ? TableRef : T[K] };
type Root = Stored<Omit<State, "streams" | "views" | "approvals" | "mode" | "name">> & {
  readonly format: number;
  readonly streams: readonly Stored<Stream>[];
  readonly views: readonly StoredView[];
  /** Snapshots from before anything could wait for the user have neither. */
  readonly approvals?: TableRef;
  readonly mode?: readonly (readonly [Seq, Mode | null])[];
  /** Nor those from before a session could be renamed. */
  readonly name?: readonly (readonly [Seq, string | null])[];
};
type StoredView = Stored<Omit<View, "permissions">> & { readonly permissions?: TableRef };
const noTable: TableRef = { size: 0, pages: [] };

function writeStream(writer: PageWriter, stream: Stream): Stored<Stream> {
  return {
    ...stream,
    blocks: writer.table(stream.blocks, plain()),
    turns: writer.table(stream.turns, plain()),
    runs: writer.table(stream.runs, plain()),
    due: writer.table(stream.due, plain()),
  };
}

function readStream(reader: PageReader, stream: Stored<Stream>): Stream {
  return {
    ...stream,
    blocks: reader.table(stream.blocks, plain()),
    turns: reader.table(stream.turns, plain()),
    runs: reader.table(stream.runs, plain()),
    due: reader.table(stream.due, plain()),
  };
}

function writeView(writer: PageWriter, view: View): StoredView {
  return {
    ...view,
    facts: writer.table(view.facts, codecs.facts),
    shown: writer.table(view.shown, codecs.shown),
    sent: writer.table(view.sent, plain()),
    answers: writer.table(view.answers, plain()),
    epochs: writer.table(view.epochs, plain()),
    due: writer.table(view.due, plain()),
    permissions: writer.table(view.permissions, codecs.permissions),
  };
}

function readView(reader: PageReader, view: StoredView): View {
  return {
    ...view,
    facts: reader.table(view.facts, codecs.facts),
    shown: reader.table(view.shown, codecs.shown),
    sent: reader.table(view.sent, plain()),
    answers: reader.table(view.answers, plain()),
    epochs: reader.table(view.epochs, plain()),
    due: reader.table(view.due, plain()),
    permissions: reader.table(view.permissions ?? noTable, codecs.permissions),
  };
}

function byId<T extends { readonly id: number }>(items: readonly T[]): Paged<T> {
  return items.reduce((table, item) => table.with(item.id, item), Paged.empty<T>());
}

/** What a page was written as. Pages are immutable, so the name found once is the name for ever. */
const namesOfPages = new WeakMap<object, string>();

class PageWriter {
  readonly named = new Set<string>();
  readonly fresh = new Map<string, Uint8Array>();
  readonly #known: ReadonlySet<string>;

  constructor(known: ReadonlySet<string>) {
    this.#known = known;
  }

  /** Encodes pages ahead, pausing now and then. */
  *prepare(pages: Iterable<Encodable>): Generator<void> {
    for (const encode of pages) {
      const before = this.fresh.size;
      encode(this);
      if (this.fresh.size > before && this.fresh.size % pagesPerSlice === 0) yield;
    }
  }

  table<T>(table: Paged<T>, codec: Codec<T>): TableRef {
    const pages = [...table.pages()].map(([index, page]) => [index, this.write(page, codec)] as const);
    return { size: table.size, pages };
  }

  write<T>(page: Page<T>, codec: Codec<T>): string {
    const named = namesOfPages.get(page);
    const isWritten = named !== undefined && (this.#known.has(named) || this.fresh.has(named));
    const name = isWritten ? named : this.#encode(page, codec);
    this.named.add(name);
    return name;
  }

  #encode<T>(page: Page<T>, codec: Codec<T>): string {
    const text = JSON.stringify(page.items.map((item) => (item === undefined ? null : codec.encode(item))));
    const name = sha256Hex(text).slice(0, 32);
    namesOfPages.set(page, name);
    if (!this.#known.has(name)) this.fresh.set(name, Buffer.from(text));
    return name;
  }
}

class PageReader {
  readonly #pages: ReadonlyMap<string, Uint8Array>;

  constructor(pages: ReadonlyMap<string, Uint8Array>) {
    this.#pages = pages;
  }

  table<T>(ref: TableRef, codec: Codec<T>): Paged<T> {
    return Paged.fromPages(
      ref.size,
      ref.pages.map(([index, name]) => [index, this.#page(name, codec)] as const),
    );
  }

  #page<T>(name: string, codec: Codec<T>): Page<T> {
    const bytes = this.#pages.get(name);
    if (bytes === undefined) throw new Error(`page ${name} is missing`);
    const page = new Page<T>(() => {
      const items = JSON.parse(Buffer.from(bytes).toString("utf8")) as readonly unknown[];
      return items.map((item) => (item === null ? undefined : codec.decode(item)));
    });
    namesOfPages.set(page, name);
    return page;
  }
}
