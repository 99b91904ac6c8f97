import {
  apertureError,
  type Clock,
  must,
  type StreamId,
  sha256Hex,
  stepId,
  streamId,
  type ViewId,
  viewId,
} from "../base/index.ts";
import {
  type AddedBlock,
  approvalOf,
  type Delta,
  type Frame,
  type Mode,
  type Moment,
  modeOf,
  nextStep,
  setMode,
  streamOf,
  type View,
  viewOf,
} from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { type StepRow, stepsPage } from "../session/index.ts";
import { type Pending, type Priority, pendingOf } from "./activation.ts";
import type { Agent } from "./agent.ts";
import {
  approvalsIn,
  type Decided,
  type Deciding,
  type Decision,
  decide,
  type Waiting,
  waitingOf,
} from "./approvals.ts";
import { askedOf, isAsking } from "./asked.ts";
import { Draft } from "./draft.ts";
import type { EventOf, Events, SpaceEvent } from "./events.ts";
import { draftHappening, type Happening } from "./happening.ts";
import { checkTools } from "./head.ts";
import type { News } from "./news.ts";
import type { RenderedContext } from "./rendered-context.ts";
import { previewOf, renderRun } from "./rendering.ts";
import { end, type RunEnd, runActivation } from "./run.ts";
import type { RunPlace } from "./run-place.ts";
import { Runs, type Who } from "./runs.ts";
import { raise, unwrapped } from "./space-error.ts";
import type { SpaceLog } from "./space-log.ts";
import { type Spend, spendIn } from "./spend.ts";
import { Standing } from "./standing.ts";
import { StreamHandle } from "./stream-handle.ts";
import { ViewMemory } from "./view-memory.ts";

/** An outside source: what it brings becomes something that happened. */
export type Adapter<E> = { readonly name: string; readonly read: (event: E) => readonly Happening[] };

const nothingEnds = { signal: new AbortController().signal, isLeft: () => false };

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

/** Agents and streams on one log. */
export class Space {
  readonly #place: SpacePlace;
  readonly #standing: Standing;
  readonly #agents = new Map<string, Agent>();
  readonly #streams = new Map<string, StreamId>();
  readonly #memories = new Map<ViewId, ViewMemory>();
  readonly #runs: Runs;

  constructor(place: SpacePlace) {
    this.#place = place;
    const state = place.log.state();
    this.#standing = new Standing(state);
    // The root is nobody's to speak in: a stream of its name is a stream like any other.
    for (const [, { id, name }] of state.streams.entries()) if (id !== root) this.#streams.set(name, id);
    place.events.on("frame", ({ frame }) => this.#note(frame));
    this.#runs = new Runs({
      runsMax: place.runsMax,
      pending: () => this.pending(),
      isKnown: (agent) => this.#agents.has(agent),
      start: (who, signal) => this.#start(who, signal),
      finished: ({ agent, stream }, { is }) =>
        place.events.tell({ type: "finished", stream: this.#nameOf(stream), agent, is }),
    });
  }

  get moment(): Moment {
    return this.#place.log.moment();
  }

  /** Adds an agent. If it was at work when the space was last open, it goes on. */
  add(agent: Agent): void {
    if (this.#agents.has(agent.name)) raise(apertureError("AP_AGENT_EXISTS", { agent: agent.name }));
    unwrapped(checkTools(agent));
    this.#agents.set(agent.name, agent);
    this.#runs.pump();
  }

  on<T extends SpaceEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.#place.events.on(type, listener);
  }

  /** The stream of that name, opened if there is none. */
  stream(name: string): StreamHandle {
    if (!this.#streams.has(name)) this.#openStream(name, root);
    return new StreamHandle(this, name);
  }

  /**
   * A stream that begins as another one is now, and goes on by itself. One that was forked from it before is
   * that one: a program that starts again says the same again. Any other of that name is an error.
   */
  fork(parent: string, name: string): StreamHandle {
    const from = this.#streamOf(parent);
    const known = this.#streams.get(name);
    if (known === undefined) this.#openStream(name, from);
    else if (streamOf(this.moment, known)?.parent?.stream !== from)
      raise(apertureError("AP_FORK_EXISTS", { stream: name, parent }));
    return new StreamHandle(this, name);
  }

  /** Everything that happened together becomes one frame. Resolves when it is on the disk. */
  happen(happenings: readonly Happening[]): Promise<void> {
    return this.#happen(happenings, "");
  }

  async #happen(happenings: readonly Happening[], reason: string): Promise<void> {
    const { log } = this.#place;
    if (this.#runs.isClosed) raise(apertureError("AP_SPACE_CLOSED"));
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
    this.#runs.retry();
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

  /** Commands of agents that wait for your word, first come first; or all there ever were. */
  approvals(options: { readonly all?: boolean } = {}): Promise<readonly Waiting[]> {
    return approvalsIn(this.#place.log, (stream) => this.#nameOf(streamId(stream)), options);
  }

  /** Lets a command be carried out that waits for it. The agent is told with its next turn. */
  approve(approval: number, decision: Decision = {}): Promise<Decided> {
    return this.#decide({ ...decision, approval, to: "approved" });
  }

  deny(approval: number, decision: Decision = {}): Promise<Decided> {
    return this.#decide({ ...decision, approval, to: "denied" });
  }

  async #decide(deciding: Deciding): Promise<Decided> {
    const { log } = this.#place;
    const decided = await log.exclusively(async () => {
      const waiting = unwrapped(waitingOf(log.moment(), deciding.approval));
      const { agent, stream } = must(viewOf(log.moment(), waiting.view), "an approval has a view");
      const memory = this.#memoryOf({ agent, stream });
      return await decide({ log, memory, agent: this.#agents.get(agent) ?? null }, deciding);
    });
    await log.store.flush();
    return unwrapped(decided);
  }

  /** What agents and people have done to what is remembered, the newest last; each can be undone. */
  async steps(limit = 50): Promise<readonly StepRow[]> {
    const { log } = this.#place;
    await log.store.flush();
    const page = await stepsPage({ state: log.state(), store: log.store }, { limit });
    return unwrapped(page).rows;
  }

  /** Takes back a step, or takes up again one that was taken back. */
  async reverse(step: number): Promise<void> {
    const { log } = this.#place;
    unwrapped(await log.exclusively(() => log.reverse(stepId(step))));
  }

  /** What agents have cost so far: all of them, one, or in a stream. */
  spend(of: { readonly agent?: string; readonly stream?: string } = {}): Spend {
    const stream = of.stream === undefined ? undefined : this.#streamOf(of.stream);
    return spendIn(this.moment, { agent: of.agent, stream });
  }

  /** What is done without asking in the whole space; null: what each agent says. */
  get mode(): Mode | null {
    return modeOf(this.moment);
  }

  async setMode(mode: Mode | null): Promise<void> {
    const { log } = this.#place;
    const deltas = unwrapped(setMode({ moment: log.moment(), actor: "user" }, mode));
    if (deltas.length === 0) return;
    const cause = { type: "command", step: nextStep(log.state()), reason: "" } as const;
    unwrapped(await log.appendDurably({ stream: null, actor: "user", cause, deltas }));
  }

  /** Agents that are asked to act, in the order they will. */
  pending(): readonly Pending[] {
    return pendingOf(this.#standing.activations(this.#place.log.state()));
  }

  /** What an agent would be sent in a stream now. Nothing is sent; one that was never there gets its view. */
  async preview(agent: string, stream: string): Promise<RenderedContext> {
    const id = this.#streamOf(stream);
    const known = this.#known(agent);
    const memory = this.#memoryOf({ agent, stream: id });
    const run = { agent: known, memory, ...nothingEnds };
    return previewOf(unwrapped(await renderRun(this.#runPlace(), run)));
  }

  /** Ends what an agent does in a stream, and what it was asked to do next. */
  async cancel({ agent, stream }: { readonly agent: string; readonly stream: string }): Promise<void> {
    const who = { agent, stream: this.#streamOf(stream) };
    // A run that is stopped takes all that it was asked with it.
    if (this.#runs.isGoing(who)) return await this.#runs.stop(who);
    if (!this.pending().some(({ block }) => isAsking(block, who))) return;
    // It may have been cut off between a call and its result, and nobody is here who will go on.
    const place = { log: this.#place.log, standing: this.#standing };
    unwrapped(end(place, { memory: this.#memoryOf(who) }, { notice: null, isCancelled: true }));
    this.#runs.pump();
  }

  /** Resolves when nobody is at work or asked to be: everywhere, or an agent, or in a stream. */
  async idle(of: { readonly agent?: string; readonly stream?: string } = {}): Promise<void> {
    const stream = of.stream === undefined ? null : this.#streamOf(of.stream);
    await this.#runs.idle(
      (one) =>
        (stream === null || one.stream === stream) && (of.agent === undefined || one.agent === of.agent),
    );
  }

  /** Ends all that goes on, without a word: it goes on when the space is opened again. */
  async close(): Promise<void> {
    await this.#runs.close();
    await this.#place.log.store.flush();
    if (this.#place.ownsStore) await this.#place.log.store.close();
  }

  #note(frame: Frame): void {
    this.#standing.note(frame);
    this.#place.news.note(frame);
    for (const delta of frame.deltas)
      if (delta.type === "stream-opened") this.#streams.set(delta.name, delta.stream);
      else if (delta.type === "block-added") this.#tellOf(delta.block as AddedBlock);
      else if (delta.type === "approval-asked") this.#tellOfApproval(delta.approval.id);
      else if (delta.type === "approval-decided") this.#tellOfApproval(delta.approval);
  }

  #tellOf({ kind, stream, speaker, content, id, ephemeral }: AddedBlock): void {
    if ((kind !== "user" && kind !== "assistant") || ephemeral) return;
    const bytes = this.#place.log.contents.latest(content);
    const spoken = bytes === null ? null : spokenIn(bytes);
    if (spoken?.type !== "text") return;
    const { text } = spoken;
    this.#place.events.tell({ type: "said", stream: this.#nameOf(stream), speaker, text, block: id });
  }

  #tellOfApproval(id: number): void {
    const { view, stand: is, command, why } = must(approvalOf(this.moment, id), "it is in the log");
    const { agent, stream } = must(viewOf(this.moment, view), "an approval has a view");
    const told = { stream: this.#nameOf(stream), agent, approval: id, is, command, why };
    this.#place.events.tell({ type: "approval", ...told });
  }

  #openStream(name: string, parent: StreamId): void {
    const { log } = this.#place;
    const { state, seq } = log.moment();
    const id = streamId(state.streams.size);
    const deltas: Delta[] = [{ type: "stream-opened", stream: id, name, parent: { stream: parent, seq } }];
    unwrapped(log.append({ stream: null, actor: "client", cause: "session", deltas }));
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

  /** What no prompt has told its agent yet: its next one will. */
  #notBegun(): readonly Pending[] {
    return this.pending().filter(({ block, activation }) => {
      const view = this.#viewOf({ agent: activation.agent, stream: block.stream });
      const asked = view === null ? null : askedOf(this.moment, view, this.#standing);
      return asked === null || !asked.isBegun || asked.waiting.includes(block);
    });
  }

  #start({ agent, stream }: Who, signal: AbortSignal): Promise<RunEnd> {
    const known = this.#known(agent);
    const memory = this.#memoryOf({ agent, stream });
    const isLeft = (): boolean => this.#runs.isClosed;
    return runActivation(this.#runPlace(), { agent: known, memory, signal, isLeft });
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
  #memoryOf({ agent, stream }: Who): ViewMemory {
    const view = this.#viewOf({ agent, stream }) ?? this.#openView(agent, stream);
    const memory = this.#memories.get(view.id) ?? new ViewMemory(view.id, stream);
    this.#memories.set(view.id, memory);
    return memory;
  }

  /** Null: it was never asked there. */
  #viewOf({ agent, stream }: Who): View | null {
    for (const [, view] of this.#place.log.state().views.entries())
      if (view.agent === agent && view.stream === stream) return view;
    return null;
  }

  #openView(agent: string, stream: StreamId): View {
    const { log } = this.#place;
    const id = viewId(log.state().views.size === 0 ? 1 : log.state().views.size);
    const deltas: Delta[] = [{ type: "view-opened", view: id, stream, agent, parent: null }];
    unwrapped(log.append({ stream, actor: "client", cause: "session", deltas }));
    return must(viewOf(log.moment(), id), "it was opened");
  }
}
