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
import type { AddedBlock, Delta, Frame, Mode } from "../engine/frames/index.ts";
import { nextStepId, ruleChanges, type View } from "../engine/index.ts";
import { approvalOf, type Moment, modeOf, streamOf, viewOf } from "../engine/moment/index.ts";
import type { StepRow } from "../queries/answers/index.ts";
import { stepsPage } from "../queries/index.ts";
import { type PendingActivation, type Priority, pendingActivations } from "./activation.ts";
import type { Agent } from "./agent.ts";
import { AgentStream } from "./agent-stream.ts";
import {
  type AgentApproval,
  type DecisionInput,
  type DecisionOptions,
  type DecisionResult,
  decideAgentApproval,
  listAgentApprovals,
  waitingApproval,
} from "./approvals.ts";
import { BlockIndex } from "./block-index.ts";
import { planRun } from "./prompt/plan-prompt.ts";
import { checkTools } from "./prompt/prompt-head.ts";
import { contextOf, type RenderedContext } from "./prompt/rendered-context.ts";
import { type RunEnd, recordRunEnd, runActivation } from "./run/run-activation.ts";
import { type AgentInStream, Runs } from "./run/runs.ts";
import type { RunDeps } from "./run-deps.ts";
import { isActivationOf, runStatusOf } from "./run-status.ts";
import { wire } from "./runtime-protocol.ts";
import { SpaceDraft } from "./space-draft.ts";
import { raise, unwrapOrThrow } from "./space-error.ts";
import type { EventOf, SpaceEvent, SpaceEvents } from "./space-events.ts";
import { draftInput, type SpaceInput } from "./space-input.ts";
import type { SpaceLog } from "./space-log.ts";
import { type SpaceSpend, spendIn } from "./space-spend.ts";
import { StreamHandle } from "./stream-handle.ts";

/** An outside source: `read` turns each of its events into inputs of the space. */
export type Adapter<E> = { readonly name: string; readonly read: (event: E) => readonly SpaceInput[] };

/** A preview is never aborted or suspended. */
const neverEnds = { signal: new AbortController().signal, isSuspended: () => false };

/**
 * The stream that all others are forked from: they know everything that was recorded here before the fork.
 */
export const root = streamId(1);

export type SpaceDeps = {
  readonly log: SpaceLog;
  readonly events: SpaceEvents;
  readonly clock: Clock;
  readonly ownsStore: boolean;
  readonly runsMax: number;
};

/** Agents and streams on one log. */
export class Space {
  readonly #deps: SpaceDeps;
  readonly #index: BlockIndex;
  readonly #agents = new Map<string, Agent>();
  readonly #streams = new Map<string, StreamId>();
  readonly #agentStreams = new Map<ViewId, AgentStream>();
  readonly #runs: Runs;

  constructor(deps: SpaceDeps) {
    this.#deps = deps;
    const state = deps.log.state();
    this.#index = new BlockIndex(state);
    // The root cannot be used by its name: a stream with that name is a stream like any other.
    for (const [, { id, name }] of state.streams.entries()) if (id !== root) this.#streams.set(name, id);
    deps.events.on("frame", ({ frame }) => this.#applyFrame(frame));
    this.#runs = new Runs({
      runsMax: deps.runsMax,
      pending: () => this.pending(),
      hasAgent: (agent) => this.#agents.has(agent),
      start: (who, signal) => this.#start(who, signal),
      onFinished: ({ agent, stream }, { is }) =>
        deps.events.emit({ type: "finished", stream: this.#streamName(stream), agent, is }),
    });
  }

  get moment(): Moment {
    return this.#deps.log.moment();
  }

  /** Adds an agent. A run that was going on when the space was last closed continues. */
  add(agent: Agent): void {
    if (this.#agents.has(agent.name)) raise(apertureError("AP_AGENT_EXISTS", { agent: agent.name }));
    unwrapOrThrow(checkTools(agent));
    this.#agents.set(agent.name, agent);
    this.#runs.startPending();
  }

  on<T extends SpaceEvent["type"]>(type: T, listener: (event: EventOf<T>) => void): () => void {
    return this.#deps.events.on(type, listener);
  }

  /** The stream of that name; it is opened if there is none. */
  stream(name: string): StreamHandle {
    if (!this.#streams.has(name)) this.#openStream(name, root);
    return new StreamHandle(this, name);
  }

  /**
   * A stream that begins with everything its parent holds now. If the fork exists already, it is returned: a
   * program that restarts forks again. A stream of that name with another parent is an error.
   */
  fork(parent: string, name: string): StreamHandle {
    const from = this.#streamNamed(parent);
    const known = this.#streams.get(name);
    if (known === undefined) this.#openStream(name, from);
    else if (streamOf(this.moment, known)?.parent?.stream !== from)
      raise(apertureError("AP_FORK_EXISTS", { stream: name, parent }));
    return new StreamHandle(this, name);
  }

  /** Records all inputs as one frame. Resolves when the frame is on the disk. */
  record(inputs: readonly SpaceInput[]): Promise<void> {
    return this.#recordInputs(inputs, "");
  }

  async #recordInputs(inputs: readonly SpaceInput[], reason: string): Promise<void> {
    const { log } = this.#deps;
    if (this.#runs.isClosed) raise(apertureError("AP_SPACE_CLOSED"));
    const draft = new SpaceDraft(log);
    const deps = {
      log,
      index: this.#index,
      root,
      streamOf: (name: string) => this.#streamNamed(name),
      agents: [...this.#agents.values()],
      notStarted: this.#notStarted(),
    };
    for (const input of inputs) {
      if (input.type === "activate") this.#agentNamed(input.agent);
      draftInput(deps, draft, input);
    }
    if (draft.deltas.length === 0) return;
    const streams = new Set(
      draft.deltas.flatMap((delta) => (delta.type === "block-added" ? [delta.block.stream] : [])),
    );
    const stream = streams.size === 1 ? must([...streams][0], "there is one") : null;
    const { deltas, contents } = draft;
    const cause = { type: "request", step: null, reason } as const;
    const appended = unwrapOrThrow(log.append({ stream, actor: "client", cause, deltas, contents }));
    this.#runs.retry();
    unwrapOrThrow(await appended.durable);
  }

  /** Connects an outside source: each event that is passed in becomes a frame that names the source. */
  attach<E>({ name, read }: Adapter<E>): (event: E) => Promise<void> {
    return (event) => this.#recordInputs(read(event), name);
  }

  /** Asks an agent to act, and resolves when it has; the event `finished` says how the run ended. */
  async activate(input: {
    readonly agent: string;
    readonly stream: string;
    readonly priority?: Priority;
    readonly reason?: string;
  }): Promise<void> {
    await this.record([{ type: "activate", ...input }]);
    await this.idle(input);
  }

  /** Commands of agents that wait for approval, oldest first; with `all` also those that were decided. */
  approvals(options: { readonly all?: boolean } = {}): Promise<readonly AgentApproval[]> {
    return listAgentApprovals(this.#deps.log, (stream) => this.#streamName(streamId(stream)), options);
  }

  /** Carries out a command that waits for approval. The agent is told with its next turn. */
  approve(approval: number, decision: DecisionOptions = {}): Promise<DecisionResult> {
    return this.#decide({ ...decision, approval, to: "approved" });
  }

  deny(approval: number, decision: DecisionOptions = {}): Promise<DecisionResult> {
    return this.#decide({ ...decision, approval, to: "denied" });
  }

  async #decide(input: DecisionInput): Promise<DecisionResult> {
    const { log } = this.#deps;
    const decided = await log.runExclusively(async () => {
      const waiting = unwrapOrThrow(waitingApproval(log.moment(), input.approval));
      const { agent, stream } = must(viewOf(log.moment(), waiting.view), "an approval has a view");
      const agentStream = this.#agentStreamOf({ agent, stream });
      return await decideAgentApproval({ log, agentStream, agent: this.#agents.get(agent) ?? null }, input);
    });
    await log.store.flush();
    return unwrapOrThrow(decided);
  }

  /** The steps in which agents and people changed the context, newest last; each can be undone. */
  async steps(limit = 50): Promise<readonly StepRow[]> {
    const { log } = this.#deps;
    await log.store.flush();
    const page = await stepsPage({ state: log.state(), store: log.store }, { limit });
    return unwrapOrThrow(page).rows;
  }

  /** Undoes a step, or redoes a step that is undone. */
  async reverse(step: number): Promise<void> {
    const { log } = this.#deps;
    unwrapOrThrow(await log.runExclusively(() => log.reverse(stepId(step))));
  }

  /** The cost so far of all agents, of one agent, or of one stream. */
  spend(of: { readonly agent?: string; readonly stream?: string } = {}): SpaceSpend {
    const stream = of.stream === undefined ? undefined : this.#streamNamed(of.stream);
    return spendIn(this.moment, { agent: of.agent, stream });
  }

  /** The mode of the whole space. Null if each agent's own mode applies. */
  get mode(): Mode | null {
    return modeOf(this.moment);
  }

  async setMode(mode: Mode | null): Promise<void> {
    const { log } = this.#deps;
    const deltas = unwrapOrThrow(ruleChanges.setMode({ moment: log.moment(), actor: "user" }, mode));
    if (deltas.length === 0) return;
    const cause = { type: "command", step: nextStepId(log.state()), reason: "" } as const;
    unwrapOrThrow(await log.appendDurably({ stream: null, actor: "user", cause, deltas }));
  }

  /** The activations of agents, in the order they run. */
  pending(): readonly PendingActivation[] {
    return pendingActivations(this.#index.activations(this.#deps.log.state()));
  }

  /**
   * The prompt an agent would get in a stream now. Nothing is sent, but a new agent gets its view of the
   * stream.
   */
  async preview(agent: string, stream: string): Promise<RenderedContext> {
    const id = this.#streamNamed(stream);
    const agentStream = this.#agentStreamOf({ agent, stream: id });
    const run = { agent: this.#agentNamed(agent), agentStream, ...neverEnds };
    return contextOf(unwrapOrThrow(await planRun(this.#runDeps(), run)));
  }

  /** Ends the run of an agent in a stream, and drops the activations that wait for it there. */
  async cancel({ agent, stream }: { readonly agent: string; readonly stream: string }): Promise<void> {
    const who = { agent, stream: this.#streamNamed(stream) };
    // A run that is stopped also removes the activations that wait.
    if (this.#runs.isRunning(who)) return await this.#runs.stop(who);
    if (!this.pending().some(({ block }) => isActivationOf(block, who))) return;
    // A crash may have cut the run off between a call and its result, and no run continues it now.
    const deps = { log: this.#deps.log, index: this.#index };
    unwrapOrThrow(
      recordRunEnd(deps, { agentStream: this.#agentStreamOf(who) }, { notice: null, isCancelled: true }),
    );
    this.#runs.startPending();
  }

  /** Resolves when no run is active or pending: in the whole space, of one agent, or in one stream. */
  async idle(of: { readonly agent?: string; readonly stream?: string } = {}): Promise<void> {
    const stream = of.stream === undefined ? null : this.#streamNamed(of.stream);
    await this.#runs.idle(
      (one) =>
        (stream === null || one.stream === stream) && (of.agent === undefined || one.agent === of.agent),
    );
  }

  /** Stops all runs without recording their end: they continue when the space is opened again. */
  async close(): Promise<void> {
    await this.#runs.close();
    await this.#deps.log.store.flush();
    if (this.#deps.ownsStore) await this.#deps.log.store.close();
  }

  #applyFrame(frame: Frame): void {
    this.#index.addFrame(frame);
    for (const agentStream of this.#agentStreams.values()) agentStream.noteFrame(frame);
    for (const delta of frame.deltas)
      if (delta.type === "stream-opened") this.#streams.set(delta.name, delta.stream);
      else if (delta.type === "block-added") this.#emitSaid(delta.block as AddedBlock);
      else if (delta.type === "approval-asked") this.#emitApproval(delta.approval.id);
      else if (delta.type === "approval-decided") this.#emitApproval(delta.approval);
  }

  #emitSaid(block: AddedBlock): void {
    const { kind, stream, speaker, content, id, ephemeral } = block;
    if ((kind !== "user" && kind !== "assistant") || ephemeral) return;
    const bytes = this.#deps.log.contents.cached(content);
    const text = bytes === null ? null : wire.read.text(bytes);
    if (text === null) return;
    this.#deps.events.emit({ type: "said", stream: this.#streamName(stream), speaker, text, block: id });
  }

  #emitApproval(id: number): void {
    const { view, stand: is, command, why } = must(approvalOf(this.moment, id), "it is in the log");
    const { agent, stream } = must(viewOf(this.moment, view), "an approval has a view");
    const fields = { stream: this.#streamName(stream), agent, approval: id, is, command, why };
    this.#deps.events.emit({ type: "approval", ...fields });
  }

  #openStream(name: string, parent: StreamId): void {
    const { log } = this.#deps;
    const { state, seq } = log.moment();
    const id = streamId(state.streams.size);
    const deltas: Delta[] = [{ type: "stream-opened", stream: id, name, parent: { stream: parent, seq } }];
    unwrapOrThrow(log.append({ stream: null, actor: "client", cause: "session", deltas }));
  }

  #streamNamed(name: string): StreamId {
    return this.#streams.get(name) ?? raise(apertureError("AP_STREAM_UNKNOWN", { stream: name }));
  }

  #streamName(id: StreamId): string {
    return must(streamOf(this.moment, id), "a stream has a name").name;
  }

  #agentNamed(name: string): Agent {
    const known = [...this.#agents.keys()].join(", ") || "none";
    return this.#agents.get(name) ?? raise(apertureError("AP_AGENT_UNKNOWN", { agent: name, known }));
  }

  /** Activations that no prompt of their agent covers yet: the next prompt will. */
  #notStarted(): readonly PendingActivation[] {
    return this.pending().filter(({ block, activation }) => {
      const view = this.#viewOf({ agent: activation.agent, stream: block.stream });
      const status = view === null ? null : runStatusOf(this.moment, view, this.#index);
      return status === null || !status.isStarted || status.later.includes(block);
    });
  }

  #start({ agent, stream }: AgentInStream, signal: AbortSignal): Promise<RunEnd> {
    const isSuspended = (): boolean => this.#runs.isClosed;
    const run = {
      agent: this.#agentNamed(agent),
      agentStream: this.#agentStreamOf({ agent, stream }),
      signal,
      isSuspended,
    };
    return runActivation(this.#runDeps(), run);
  }

  #runDeps(): RunDeps {
    const { log, clock, events } = this.#deps;
    return {
      log,
      index: this.#index,
      clock,
      nonceOf: (view) => this.#nonceOf(view),
      streamName: (stream) => this.#streamName(stream),
      emit: (event) => events.emit(event),
    };
  }

  /** An agent in a stream. It has a view of each stream it acts in; a new one is opened here. */
  #agentStreamOf({ agent, stream }: AgentInStream): AgentStream {
    const view = this.#viewOf({ agent, stream }) ?? this.#openView(agent, stream);
    const known = this.#agentStreams.get(view.id);
    if (known !== undefined) return known;
    const { seq: openedSeq } = this.#deps.log.state();
    const opened = new AgentStream({ view: view.id, stream, nonce: this.#nonceOf(view), openedSeq });
    this.#agentStreams.set(view.id, opened);
    return opened;
  }

  /** Derived from a secret of the log, so that content cannot guess it. */
  #nonceOf({ id }: View): string {
    const { key } = must(this.#deps.log.state().identity, "a space is identified");
    return sha256Hex(`${key} ${id}`).slice(0, 6);
  }

  /** Null if the agent never acted in the stream. */
  #viewOf({ agent, stream }: AgentInStream): View | null {
    for (const [, view] of this.#deps.log.state().views.entries())
      if (view.agent === agent && view.stream === stream) return view;
    return null;
  }

  #openView(agent: string, stream: StreamId): View {
    const { log } = this.#deps;
    const id = viewId(log.state().views.size === 0 ? 1 : log.state().views.size);
    const deltas: Delta[] = [{ type: "view-opened", view: id, stream, agent, parent: null }];
    unwrapOrThrow(log.append({ stream, actor: "client", cause: "session", deltas }));
    return must(viewOf(log.moment(), id), "it was opened");
  }
}
