import {
  type BlockId,
  blockId,
  type ContentHash,
  hashContent,
  type MessageId,
  messageId,
  streamId,
  type Turn,
  turnOf,
  type UnitId,
  viewId,
} from "../../src/base/index.ts";
import type { Block, BlockKind, Cause, Delta, Unit } from "../../src/engine/frames/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { type Body, diffRecipe, type ExchangeSide, type HashedContent } from "../../src/store/index.ts";
import type { RecordedBlock, RecordedTurn, Recording } from "./recordings.ts";
import {
  type BuiltBody,
  buildBody,
  type RawBlock,
  type RawMessage,
  rawBlock,
  rawMessage,
  wireEvents,
} from "./wire-body.ts";

/** One append of a recorded session, with everything a store needs to give the exact bytes back. */
export type RecordedEntry = {
  readonly entry: FrameEntry;
  readonly contents: readonly HashedContent[];
  readonly bodies: readonly Omit<Body, "session">[];
};

/** What the test compares against afterwards. */
export type SentBody = { readonly exchange: number; readonly side: ExchangeSide; readonly bytes: Buffer };
export type RecordedSession = {
  readonly entries: readonly RecordedEntry[];
  readonly sent: readonly SentBody[];
  /** Bytes of distinct contents, uncompressed. */
  readonly uniqueBytes: number;
};

/** Turns a recording into the frames, contents and bodies a managed session would have left behind. */
export function recordedSession(recording: Recording): RecordedSession {
  const writer = new SessionWriter(recording);
  for (const turn of recording.turns) writer.turn(turn);
  return { entries: writer.entries, sent: writer.sent, uniqueBytes: writer.uniqueBytes };
}

const stream = streamId(1);
const view = viewId(1);
const kinds: Readonly<Record<string, BlockKind>> = {
  tool_use: "tool-call",
  tool_result: "tool-result",
  thinking: "reasoning",
  image: "media",
};
const ttlTurns: Readonly<Partial<Record<BlockKind, number>>> = {
  "tool-call": 20,
  "tool-result": 20,
  reasoning: 12,
};

type Speaker = "client" | "model";

class SessionWriter {
  readonly entries: RecordedEntry[] = [];
  readonly sent: SentBody[] = [];
  uniqueBytes = 0;
  readonly #recording: Recording;
  readonly #seen = new Set<ContentHash>();
  readonly #previous = new Map<ExchangeSide, BuiltBody>();
  readonly #pairs = new Map<unknown, MessageId>();
  #messages: { readonly raw: RawMessage; readonly leaf: UnitId | null }[] = [];
  #reserved = { block: 1, message: 1 };
  #next = { block: 1, message: 1, unit: 0 };
  #turn = 0;

  constructor(recording: Recording) {
    this.#recording = recording;
    this.#push({
      cause: "session",
      actor: "client",
      deltas: [
        { type: "stream-opened", stream, name: "main", parent: null },
        { type: "view-opened", view, stream, agent: "model", parent: null },
      ],
    });
  }

  turn(turn: RecordedTurn): void {
    this.#turn += 1;
    if (turn.k !== undefined) this.#messages = this.#messages.slice(0, turn.k);
    this.#request(turn);
    this.#response(turn);
  }

  #request(turn: RecordedTurn): void {
    const deltas: Delta[] = [];
    const contents: HashedContent[] = [];
    for (const message of turn.c) {
      const header = `[k7f3 turn ${this.#turn}: message ${this.#next.message} #${this.#next.block}..]`;
      this.#say({ raw: rawMessage(message, header), speaker: "client", deltas, contents });
    }
    const leaf = this.#messages.at(-1)?.leaf ?? (0 as UnitId);
    deltas.push({ type: "turn-sent", view, turn: turnOf(this.#turn), leaf, exchange: this.#turn });
    const raw = this.#messages.map((message) => message.raw);
    const tail = `[CONTEXT MANIFEST k7f3 turn ${this.#turn} | ${this.#next.block} blocks]`;
    const bodies = [
      this.#body("client-request", buildBody(this.#recording, raw, null)),
      this.#body("upstream-request", buildBody(this.#recording, raw, tail)),
    ];
    this.#push({ cause: "request", actor: "client", deltas, contents, bodies });
  }

  #response(turn: RecordedTurn): void {
    const deltas: Delta[] = [];
    const contents: HashedContent[] = [];
    const raw: RawMessage = { role: "assistant", bare: false, blocks: turn.a.map(rawBlock), header: null };
    this.#say({ raw, speaker: "model", deltas, contents });
    const used = turn.m?.usage;
    const usage =
      used === undefined
        ? null
        : { input: used.in, cacheRead: used.cr, cacheWrite: used.cw, output: used.out };
    deltas.push({ type: "turn-answered", view, turn: turnOf(this.#turn), outcome: "complete", usage });
    const bodies = [this.#responseBody(turn.a, contents)];
    this.#push({ cause: "response", actor: "model", deltas, contents, bodies });
  }

  /** A message: its blocks, and a unit for each. */
  #say({ raw, speaker, deltas, contents }: MessageInput): void {
    const message = messageId(this.#take("message", deltas));
    const pair = raw.blocks.some((block) => block.wire.type === "tool_use") ? message : null;
    let leaf = this.#messages.at(-1)?.leaf ?? null;
    for (const block of raw.blocks) {
      const shown = this.#addBlock({ block, message, pair, speaker, deltas, contents });
      const unit = this.#unit({ parent: leaf, message, origin: speaker, block, shown });
      deltas.push({ type: "unit-sent", unit });
      leaf = unit.id;
    }
    this.#messages.push({ raw, leaf });
  }

  #unit({ parent, message, origin, block, shown }: Unitary): Unit {
    const id = this.#next.unit as UnitId;
    this.#next = { ...this.#next, unit: id + 1 };
    const shows = [{ block: shown, as: "original" }] as const;
    return { id, stream, parent, message, origin, anchor: `b${shown}`, bytes: block.hash, shows };
  }

  #addBlock({ block, message, pair, speaker, deltas, contents }: Adding): BlockId {
    const id = blockId(this.#take("block", deltas));
    const kind = kinds[block.wire.type] ?? (speaker === "model" ? "assistant" : "user");
    this.#keep(block.text, contents);
    if (kind === "tool-call") this.#pairs.set(block.wire["id"], message);
    const joined = kind === "tool-result" ? (this.#pairs.get(block.wire["tool_use_id"]) ?? null) : pair;
    deltas.push({
      type: "block-added",
      block: blockOf({ id, kind, message, pair: joined, speaker, block, turn: turnOf(this.#turn) }),
    });
    deltas.push({
      type: "tokens-counted",
      block: id,
      tokens: { count: Math.ceil(block.text.length / 4), exact: false },
    });
    return id;
  }

  #take(of: "block" | "message", deltas: Delta[]): number {
    const id = this.#next[of];
    if (id >= this.#reserved[of]) {
      const to = this.#reserved[of] + 100;
      deltas.push({ type: "ids-reserved", stream, of, from: this.#reserved[of], to });
      this.#reserved = { ...this.#reserved, [of]: to };
    }
    this.#next = { ...this.#next, [of]: id + 1 };
    return id;
  }

  #keep(text: string, contents: HashedContent[]): void {
    const bytes = Buffer.from(text);
    const hash = hashContent(bytes);
    if (this.#seen.has(hash)) return;
    this.#seen.add(hash);
    this.uniqueBytes += bytes.length;
    contents.push({ hash, bytes });
  }

  #body(side: ExchangeSide, built: BuiltBody): Omit<Body, "session"> {
    const before = this.#previous.get(side);
    const previous = before === undefined ? null : { exchange: this.#turn - 1, side, bytes: before.bytes };
    const recipe = diffRecipe({ previous, next: built.bytes, slices: built.slices });
    this.#previous.set(side, built);
    this.sent.push({ exchange: this.#turn, side, bytes: built.bytes });
    return { exchange: this.#turn, side, hash: hashContent(built.bytes), length: built.bytes.length, recipe };
  }

  /** What came back, as it came: a content of its own, because the text is scattered over its events. */
  #responseBody(blocks: readonly RecordedBlock[], contents: HashedContent[]): Omit<Body, "session"> {
    const bytes = Buffer.from(wireEvents(blocks, this.#turn));
    const hash = hashContent(bytes);
    contents.push({ hash, bytes });
    const place = { exchange: this.#turn, side: "upstream-response" } as const;
    this.sent.push({ ...place, bytes });
    const recipe = [{ from: "content", content: hash, start: 0, length: bytes.length }] as const;
    return { ...place, hash, length: bytes.length, recipe };
  }

  #push({ cause, actor, deltas, contents = [], bodies = [] }: Pushing): void {
    const entry: FrameEntry = { stream, actor, cause: { type: cause, step: null, reason: "" }, deltas };
    this.entries.push({ entry, contents, bodies });
  }
}

type MessageInput = {
  readonly raw: RawMessage;
  readonly speaker: Speaker;
  readonly deltas: Delta[];
  readonly contents: HashedContent[];
};
type Adding = {
  readonly block: RawBlock;
  readonly message: MessageId;
  readonly pair: MessageId | null;
  readonly speaker: Speaker;
  readonly deltas: Delta[];
  readonly contents: HashedContent[];
};
type Unitary = Pick<Unit, "parent" | "message" | "origin"> & {
  readonly block: RawBlock;
  readonly shown: BlockId;
};
type Pushing = {
  readonly cause: Cause["type"];
  readonly actor: "client" | "model";
  readonly deltas: readonly Delta[];
  readonly contents?: readonly HashedContent[];
  readonly bodies?: readonly Omit<Body, "session">[];
};
type Making = {
  readonly id: BlockId;
  readonly kind: BlockKind;
  readonly message: MessageId;
  readonly pair: MessageId | null;
  readonly speaker: Speaker;
  readonly block: RawBlock;
  readonly turn: Turn;
};

function blockOf({ id, kind, message, pair, speaker, block, turn }: Making): Block {
  const spanTurns = ttlTurns[kind] ?? 108;
  return {
    id,
    kind,
    stream,
    message,
    turn,
    speaker,
    content: block.hash,
    anchor: String(block.wire["id"] ?? block.wire["tool_use_id"] ?? block.hash.slice(0, 16)),
    pair,
    taint: kind === "tool-result" ? "untrusted" : speaker === "model" ? "model" : "user",
    supersedes: null,
    ttl: { at: turnOf(turn + spanTurns), spanTurns },
  };
}
