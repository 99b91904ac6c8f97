import {
  type BlockId,
  must,
  type Result,
  type StreamId,
  type Turn,
  type UnitId,
  type ViewId,
} from "../base/index.ts";
import type { Block, Cause, Delta, Frame, Tokens, Unit, Usage } from "../engine/frames/index.ts";
import type { State } from "../engine/index.ts";
import { nodeId, nodeKey, type SentRequest, type SentRequestUnit, type Wishes } from "../exchange/index.ts";
import type { AnswerUnit, WireRequest } from "../protocols/index.ts";
import type { HashedContent, Store } from "../store/index.ts";
import {
  applyPolicy,
  expireStreamApprovals,
  makeRenditions,
  markRestatedMemories,
  type StreamWriter,
} from "./after-turn.ts";
import { DeltaDraft } from "./delta-draft.ts";
import { newRecordedStream, noteSentPrompt, type RecordedStream } from "./recorded-stream.ts";
import type { StreamActions } from "./stream-actions.ts";
import { StreamIndex } from "./stream-index.ts";
import { epochDeltas } from "./turn-draft.ts";
import { placedUnits } from "./unit-alignment.ts";
import { WishesBuilder } from "./wishes/wishes-builder.ts";

/** A prompt of a view: the request of its host, and the ledger's report of all units that are sent for it. */
export type ViewPrompt = {
  readonly request: WireRequest;
  readonly sent: SentRequest;
  /** The block of each unit of the request, over tools, system and messages. Null for a unit without one. */
  readonly blocks: readonly (BlockId | null)[];
  /** The index of the first unit that the prompt before it did not have. */
  readonly firstFresh: number;
  readonly turn: Turn;
};

/** The last prompt of a view as the log has it. */
export type RestoredPrompt = Pick<ViewPrompt, "request" | "blocks" | "turn"> & {
  readonly exchange: number;
  /** Its units as they were sent, each after its parent. */
  readonly units: readonly { readonly unit: Unit; readonly bytes: Uint8Array }[];
  /** Null if it was not answered. */
  readonly answer:
    | (Pick<ViewAnswer, "units" | "usage"> & {
        readonly blocks: readonly BlockId[];
      })
    | null;
};

/** The deltas of a prompt, before they are appended. */
export type PromptDraft = {
  readonly leaf: UnitId;
  readonly epoch: readonly Delta[];
  readonly units: readonly Delta[];
  readonly contents: readonly HashedContent[];
  /** Updates the memory of the view. Call it once the log has accepted the deltas. */
  readonly commit: (exchange: number) => void;
};

/** A block that a prompt shows or an answer adds for the first time, with its content. */
export type ShownContent = { readonly block: Block; readonly tokens: Tokens; readonly bytes: Uint8Array };

export type ViewAnswer = {
  readonly exchange: number;
  readonly units: readonly AnswerUnit[];
  readonly usage: Usage | null;
  readonly turn: Turn;
  /** One block for each unit. */
  readonly added: readonly ShownContent[];
};

/** Writes the acts of policy to the log of a host. */
export type PolicyWriter = {
  readonly state: () => State;
  readonly append: (frame: PolicyFrame) => Result<void>;
};

type PolicyFrame = {
  readonly actor: "policy" | "sidecar";
  readonly cause: Cause;
  readonly deltas: readonly Delta[];
  readonly contents: readonly HashedContent[];
};

export type AfterTurnInput = {
  /** The text of the answer. */
  readonly answer: string;
  readonly model: string;
  readonly policy: "auto" | "off";
  readonly store: Pick<Store, "content">;
};

/**
 * Records the turns of one view for a host that adds the blocks itself, and knows what the log wants of the
 * next prompt. Policy, wishes and the units of a turn are those of a proxied stream.
 */
export class ViewRecorder {
  readonly #stream: RecordedStream;
  readonly #wishes = new WishesBuilder();
  #hasWishes = false;

  constructor(view: ViewId, stream: StreamId) {
    this.#stream = newRecordedStream(`view ${view}`, new StreamIndex(stream, view), { isShared: false });
  }

  /** The commands of the view's model. */
  get actions(): StreamActions {
    return this.#stream.actions;
  }

  /** Tokens by the provider's count for each token of ours. */
  get tokenRate(): number {
    return this.#stream.sizes.rate();
  }

  noteFrame(frame: Frame): void {
    this.#wishes.noteFrame(frame);
    // A memory belongs to the stream, so another agent may have made it.
    const isMemory = (delta: Delta): boolean => delta.type === "block-added" && delta.block.kind === "memory";
    if (frame.deltas.some(isMemory)) this.actions.hasMemories = true;
  }

  /** Learns the last prompt that an earlier process sent, and its answer. */
  noteRestored({ units, answer, ...prompt }: RestoredPrompt, state: State): void {
    const { index, sizes, names } = this.#stream;
    const fresh: SentRequestUnit[] = [];
    for (const { unit, bytes } of units) {
      index.addUnit(unit);
      const { origin, anchor: key, bytes: hash, cleared } = unit;
      const parent = fresh.at(-1)?.id ?? null;
      const id = nodeId(parent, nodeKey(key, cleared === true), hash);
      fresh.push({ id, parent, origin, key, bytes, clientIndex: null, numbered: null, as: "original" });
    }
    const leaf = must(fresh.at(-1), "a prompt is not empty").id;
    const { exchange, turn } = prompt;
    noteSentPrompt(this.#stream, { ...prompt, sent: { leaf, fresh }, isNext: false, fresh: [] }, state);
    if (answer === null) return;
    sizes.noteAnswer(exchange, answer.units, answer.usage);
    names.addAnswer(answer.units, turn, answer.blocks);
  }

  /** Builds the wishes for the next prompt. The first wishes name all levels, later ones the changes. */
  async wishes(state: State, window: number, store: Pick<Store, "content">): Promise<Wishes> {
    const isWhole = !this.#hasWishes;
    this.#hasWishes = true;
    const target = { streamKey: this.#stream.name, window };
    return await this.#wishes.build(state, this.#stream, { ...target, store, isWhole, isRunOpen: true });
  }

  draftPrompt(state: State, { firstFresh, blocks, turn, request, ...prompt }: ViewPrompt): PromptDraft {
    const { index, ids, policy } = this.#stream;
    const { model, protocol } = request;
    const isUnknown = ({ id }: SentRequestUnit): boolean => index.unitAtNode(id) === null;
    const sent = { ...prompt.sent, fresh: prompt.sent.fresh.filter(isUnknown) };
    const draft = new DeltaDraft({ state, index, ids, stored: new Set(), turn, model, protocol });
    const leaf = must(draft.addSentUnits(sent.fresh, blocks)(sent.leaf), "a prompt ends with a sent unit");
    const epoch = epochDeltas(state, index, sent);
    // A prompt of other messages begins a path of its own; a rewrite cuts the path that there is.
    const isNext = sent.epoch === null || sent.epoch.cut !== null;
    const commit = (exchange: number): void => {
      draft.updateIndex();
      this.#wishes.noteReported(sent.wishesSeq);
      // An answer was added when it came.
      const fresh = placedUnits(request, firstFresh)
        .map((one, at) => ({ ...one, block: blocks[firstFresh + at] ?? null }))
        .filter(({ unit }) => unit.role !== "assistant");
      noteSentPrompt(this.#stream, { sent, request, exchange, turn, isNext, blocks, fresh }, state);
      policy.noteArrivals(sent);
      if (isNext) policy.noteRewrite(sent);
    };
    return { leaf, epoch, units: draft.deltas, contents: draft.contents, commit };
  }

  /** Watches blocks that a prompt shows for the first time: they may become stale, superseded or shorter. */
  noteShown(shown: readonly ShownContent[]): void {
    const { policy, renditions } = this.#stream;
    const deltas = shown.flatMap(({ block, tokens }): readonly Delta[] => [
      { type: "block-added", block },
      { type: "tokens-counted", block: block.id, tokens },
    ]);
    const contents = shown.map(({ block, bytes }) => ({ hash: block.content, bytes }));
    policy.addBlocks(renditions.addBlocks(deltas, contents));
  }

  noteAnswer({ exchange, units, usage, turn, added }: ViewAnswer): void {
    const { sizes, names, policy } = this.#stream;
    sizes.noteAnswer(exchange, units, usage);
    const references = names.addAnswer(
      units,
      turn,
      added.map(({ block }) => block.id),
    );
    this.noteShown(added);
    policy.noteReferences(references);
  }

  /** Does after an answer what is done after a proxied one. */
  async afterTurn(writer: PolicyWriter, input: AfterTurnInput): Promise<Result<void>> {
    const { answer, model, policy, store } = input;
    const port = streamWriter(writer);
    const expired = expireStreamApprovals(port, this.#stream);
    if (!expired.ok) return expired;
    const applied = applyPolicy(port, this.#stream, policy);
    if (!applied.ok) return applied;
    const marked = await markRestatedMemories(port, this.#stream, { answer, store });
    if (!marked.ok) return marked;
    const rendered = makeRenditions(port, this.#stream, model);
    return rendered.ok ? { ok: true, value: undefined } : rendered;
  }
}

function streamWriter({ state, append }: PolicyWriter): StreamWriter {
  return {
    state,
    append: (input) => {
      const { actor, cause } = must("cause" in input ? input : null, "policy names the cause of its acts");
      const by = actor === "sidecar" ? "sidecar" : "policy";
      return append({ actor: by, cause, deltas: input.deltas, contents: input.attached?.contents ?? [] });
    },
  };
}
