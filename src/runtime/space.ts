import {
  apertureError,
  blockId,
  type Clock,
  hashContent,
  messageId,
  must,
  type StreamId,
  sha256Hex,
  streamId,
  turnOf,
  type ViewId,
  viewId,
} from "../base/index.ts";
import {
  type AddedBlock,
  type Delta,
  type Frame,
  type Moment,
  streamOf,
  type View,
  viewOf,
} from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { anchorOf, type Pending, type Priority, pendingOf } from "./activation.ts";
import type { Agent } from "./agent.ts";
import { Draft } from "./draft.ts";
import type { EventOf, Events, SpaceEvent } from "./events.ts";
import { draftHappening, type Happening } from "./happening.ts";
import { checkTools } from "./head.ts";
import type { News } from "./news.ts";
import type { RenderedContext } from "./rendered-context.ts";
import { previewOf, renderRun } from "./rendering.ts";
import { type RunEnd, runActivation } from "./run.ts";
import type { RunPlace } from "./run-place.ts";
import { raise, unwrapped } from "./space-error.ts";
import type { SpaceLog } from "./space-log.ts";
import { Standing } from "./standing.ts";
import { StreamHandle } from "./stream-handle.ts";
import { ViewMemory } from "./view-memory.ts";

/** An outside source: what it brings becomes something that happened. */
export type Adapter<E> = { readonly name: string; readonly read: (event: E) => readonly Happening[] };

const nothingEnds = { signal: new AbortController().signal, isLeft: () => false };

/** An activation that nobody asked for: to look at what an agent would be sent. */
const looking: Omit<AddedBlock, "stream" | "addedSeq"> = {
  id: blockId(0),
  kind: "activation",
  message: messageId(0),
  turn: turnOf(0),
  speaker: "space",
  content: hashContent(""),
  anchor: anchorOf({ agent: "nobody", priority: "normal", reason: null }),
  pair: null,
  taint: "user",
  supersedes: null,
  ttl: null,
};

/** The stream that all others are forked from: what is said here before they are, all of them know. */
export const root = streamId(1);

export type SpacePlace = {
  readonly log: SpaceLog;
  readonly events: Events;
  readonly news: News;
  readonly clock: Clock;
  readonly ownsStore: boolean;
  readonly runsMax: number;
};

type Going = {
  readonly stream: StreamId;
  readonly agent: string;
  readonly controller: AbortController;
  readonly ended: Promise<RunEnd>;
};

/** Agents and streams on one log. */
export class Space {
  readonly #place: SpacePlace;
  readonly #standing: Standing;
  readonly #agents = new Map<string, Agent>();
  readonly #streams = new Map<string, StreamId>();
  readonly #memories = new Map<ViewId, ViewMemory>();
  /** By activation. */
  readonly #going = new Map<number, Going>();
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(place: SpacePlace) {
    this.#place = place;
    const state = place.log.state();
    this.#standing = new Standing(state);
    // The root is nobody's to speak in: a stream of its name is a stream like any other.
    for (const [, { id, name }] of state.streams.entries()) if (id !== root) this.#streams.set(name, id);
    place.events.on("frame", ({ frame }) => this.#note(frame));
  }

  get moment(): Moment {
    return this.#place.log.moment();
  }

  /** Adds an agent. If it was at work when the space was last open, it goes on. */
  add(agent: Agent): void {
    if (this.#agents.has(agent.name)) raise(apertureError("AP_AGENT_EXISTS", { agent: agent.name }));
    unwrapped(checkTools(agent));
    this.#agents.set(agent.name, agent);
    this.#pump();
  }

  on<T extends SpaceEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.#place.events.on(type, listener);
  }

  /** The stream of that name, opened if there is none. */
  stream(name: string): StreamHandle {
    if (!this.#streams.has(name)) this.#openStream(name, root);
    return new StreamHandle(this, name);
  }

  /** A stream that begins as another one is now, and goes on by itself. */
  fork(parent: string, name: string): StreamHandle {
    const from = this.#streamOf(parent);
    this.#openStream(name, from);
    return new StreamHandle(this, name);
  }

  /** Everything that happened together becomes one frame. Resolves when it is on the disk. */
  happen(happenings: readonly Happening[]): Promise<void> {
    return this.#happen(happenings, "");
  }

  async #happen(happenings: readonly Happening[], reason: string): Promise<void> {
    const { log } = this.#place;
    if (this.#isClosed) raise(apertureError("AP_SPACE_CLOSED"));
    const draft = new Draft(log);
    const place = {
      log,
      standing: this.#standing,
      root,
      streamOf: (name: string) => this.#streamOf(name),
      agents: [...this.#agents.values()],
      waiting: this.#notBegun(),
    };
    for (const happening of happenings) {
      if (happening.type === "activate") this.#known(happening.agent);
      draftHappening(place, draft, happening);
    }
    if (draft.deltas.length === 0) return;
    const streams = new Set(
      draft.deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block.stream] : [])),
    );
    const stream = streams.size === 1 ? must([...streams][0], "there is one") : null;
    const { deltas, contents } = draft;
    const cause = { type: "request", step: null, reason } as const;
    const recorded = unwrapped(log.append({ stream, actor: "client", cause, deltas, contents }));
    this.#pump();
    unwrapped(await recorded.durable);
  }

  /** What an outside source brings in, each event a frame that names the source. */
  attach<E>({ name, read }: Adapter<E>): (event: E) => Promise<void> {
    return (event) => this.#happen(read(event), name);
  }

  /** Asks an agent to act, and resolves when it has; `finished` tells how that ended. */
  async activate(asked: {
    readonly agent: string;
    readonly stream: string;
    readonly priority?: Priority;
    readonly reason?: string;
  }): Promise<void> {
    await this.happen([{ type: "activate", ...asked }]);
    await this.idle(asked);
  }

  /** Agents that are asked to act, in the order they will. */
  pending(): readonly Pending[] {
    return pendingOf(this.#standing.activations(this.#place.log.state()));
  }

  /** What an agent would be sent in a stream now. Nothing is sent; one that was never there gets its view. */
  async preview(agent: string, stream: string): Promise<RenderedContext> {
    const id = this.#streamOf(stream);
    const known = this.#known(agent);
    const memory = this.#memoryOf(known, id);
    const waiting = this.pending().find(
      ({ block, activation }) => block.stream === id && activation.agent === agent,
    );
    const activation = waiting?.block ?? { ...looking, stream: id, addedSeq: this.moment.seq };
    return previewOf(
      unwrapped(await renderRun(this.#runPlace(), { agent: known, activation, memory, ...nothingEnds })),
    );
  }

  /** Ends what an agent does in a stream, and what it was asked to do next. */
  async cancel({ agent, stream }: { readonly agent: string; readonly stream: string }): Promise<void> {
    const id = this.#streamOf(stream);
    this.#forget(
      this.#notBegun().filter(({ block, activation }) => block.stream === id && activation.agent === agent),
    );
    const going = [...this.#going.values()].filter((one) => one.agent === agent && one.stream === id);
    for (const { controller } of going) controller.abort();
    await Promise.all(going.map(({ ended }) => ended));
  }

  /** Resolves when nobody is at work or asked to be: everywhere, or an agent, or in a stream. */
  async idle(of: { readonly agent?: string; readonly stream?: string } = {}): Promise<void> {
    const stream = of.stream === undefined ? null : this.#streamOf(of.stream);
    const isMeant = (one: { readonly stream: StreamId; readonly agent: string }): boolean =>
      (stream === null || one.stream === stream) && (of.agent === undefined || one.agent === of.agent);
    const isAtWork = (): boolean =>
      !this.#isClosed &&
      ([...this.#going.values()].some(isMeant) ||
        this.pending().some(
          ({ block, activation: { agent } }) =>
            this.#agents.has(agent) && isMeant({ stream: block.stream, agent }),
        ));
    while (isAtWork()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ends all that goes on, without a word: it goes on when the space is opened again. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#pump();
    const going = [...this.#going.values()];
    for (const { controller } of going) controller.abort();
    await Promise.all(going.map(({ ended }) => ended));
    await this.#place.log.store.flush();
    if (this.#place.ownsStore) await this.#place.log.store.close();
  }

  #note(frame: Frame): void {
    this.#standing.note(frame);
    this.#place.news.note(frame);
    for (const delta of frame.deltas)
      if (delta.type === "block-added") this.#tellOf(delta.block as AddedBlock);
  }

  #tellOf({ kind, stream, speaker, content, id, ephemeral }: AddedBlock): void {
    if ((kind !== "user" && kind !== "assistant") || ephemeral) return;
    const bytes = this.#place.log.contents.latest(content);
    const spoken = bytes === null ? null : spokenIn(bytes);
    if (spoken?.type !== "text") return;
    const { text } = spoken;
    this.#place.events.tell({ type: "said", stream: this.#nameOf(stream), speaker, text, block: id });
  }

  #openStream(name: string, parent: StreamId): void {
    const { log } = this.#place;
    const { state, seq } = log.moment();
    const id = streamId(state.streams.size);
    const deltas: Delta[] = [{ type: "stream-opened", stream: id, name, parent: { stream: parent, seq } }];
    unwrapped(log.append({ stream: null, actor: "client", cause: "session", deltas }));
    this.#streams.set(name, id);
  }

  #streamOf(name: string): StreamId {
    return this.#streams.get(name) ?? raise(apertureError("AP_STREAM_UNKNOWN", { stream: name }));
  }

  #nameOf(id: StreamId): string {
    return must(streamOf(this.moment, id), "a stream has a name").name;
  }

  #known(name: string): Agent {
    const known = [...this.#agents.keys()].join(", ") || "none";
    return this.#agents.get(name) ?? raise(apertureError("AP_AGENT_UNKNOWN", { agent: name, known }));
  }

  #notBegun(): readonly Pending[] {
    return this.pending().filter(({ block }) => !this.#going.has(block.id));
  }

  #forget(asked: readonly Pending[]): void {
    if (asked.length === 0) return;
    const draft = new Draft(this.#place.log);
    for (const { block } of asked) draft.remove(block.id);
    const noted = { stream: null, actor: "client", cause: "request", deltas: draft.deltas } as const;
    unwrapped(this.#place.log.append(noted));
    this.#pump();
  }

  #isBusy(agent: string, stream: StreamId): boolean {
    return [...this.#going.values()].some((one) => one.agent === agent && one.stream === stream);
  }

  /** Starts what waits, as far as there is room: an agent does one thing at a time in a stream. */
  #pump(): void {
    for (const { block, activation } of this.#isClosed ? [] : this.pending()) {
      const agent = this.#agents.get(activation.agent);
      const isFree = this.#going.size < this.#place.runsMax && !this.#isBusy(activation.agent, block.stream);
      if (agent !== undefined && isFree && !this.#going.has(block.id)) this.#start(agent, block);
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  #start(agent: Agent, activation: AddedBlock): void {
    const controller = new AbortController();
    const { stream, id } = activation;
    const memory = this.#memoryOf(agent, stream);
    const ended = runActivation(this.#runPlace(), {
      agent,
      activation,
      memory,
      signal: controller.signal,
      isLeft: () => this.#isClosed,
    });
    this.#going.set(id, { stream, agent: agent.name, controller, ended });
    void ended.then((is) => {
      this.#going.delete(id);
      this.#place.events.tell({ type: "finished", stream: this.#nameOf(stream), agent: agent.name, is });
      this.#pump();
    });
  }

  #runPlace(): RunPlace {
    const { log, clock, events } = this.#place;
    const { key } = must(log.state().identity, "a space is identified");
    return {
      log,
      standing: this.#standing,
      news: this.#place.news,
      clock,
      nonceOf: ({ id }) => sha256Hex(`${key} ${id}`).slice(0, 6),
      nameOf: (stream) => this.#nameOf(stream),
      tell: (event) => events.tell(event),
    };
  }

  /** What an agent knows of a stream; it has a view of each stream it acts in. */
  #memoryOf({ name }: Agent, stream: StreamId): ViewMemory {
    const { log } = this.#place;
    const known = [...log.state().views.entries()]
      .map(([, view]) => view)
      .find((view) => view.agent === name && view.stream === stream);
    const view = known ?? this.#openView(name, stream);
    const memory = this.#memories.get(view.id) ?? new ViewMemory(view.id, stream);
    this.#memories.set(view.id, memory);
    return memory;
  }

  #openView(agent: string, stream: StreamId): View {
    const { log } = this.#place;
    const id = viewId(log.state().views.size === 0 ? 1 : log.state().views.size);
    const deltas: Delta[] = [{ type: "view-opened", view: id, stream, agent, parent: null }];
    unwrapped(log.append({ stream, actor: "client", cause: "session", deltas }));
    return must(viewOf(log.moment(), id), "it was opened");
  }
}
