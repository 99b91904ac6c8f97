import {
  type BlockId,
  hashContent,
  type MessageId,
  messageId,
  type Result,
  seqOf,
  streamId,
  turnOf,
  type UnitId,
  unwrap,
  type ViewId,
  viewId,
} from "../../src/base/index.ts";
import { contentForms } from "../../src/engine/frames/exchange.ts";
import {
  type Actor,
  type Block,
  type BlockKind,
  blockKinds,
  type Cause,
  type Delta,
  type Frame,
  levels,
  type Unit,
} from "../../src/engine/frames/index.ts";
import {
  type ChangeContext,
  changes,
  nextStepId,
  type Proposal,
  reverse,
  type State,
  type Stream,
  type View,
} from "../../src/engine/index.ts";
import {
  attributesOf,
  epochNow,
  lastSentTurn,
  now,
  runNow,
  sentPath,
  turnNow,
  viewBlocks,
} from "../../src/engine/moment/index.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";
import { deltaExamples } from "./delta-examples.ts";
import { closingOf, openingOf } from "./random-exchanges.ts";
import { memoryWish, ruleActs, ruleVerbs } from "./random-rules.ts";

/** What a random session can do. New features add their verbs here. */
export const verbs = [
  "say",
  "say",
  "call",
  "whisper",
  "answer-call",
  "send",
  "answer",
  "run",
  "fork",
  "agent",
  "level",
  "pin",
  "unpin",
  "archive",
  "restore",
  "focus",
  "select",
  "withhold",
  "reference",
  "supersede",
  "expire",
  "remember",
  "rendition",
  "topics",
  "scope",
  "tokens",
  "purge",
  "rewind",
  "rewrite",
  "exchange",
  "close-exchange",
  "identify",
  ...ruleVerbs,
  "undo",
  "redo",
] as const;
export type Verb = (typeof verbs)[number];
export type Intent = { readonly verb: Verb; readonly a: number; readonly b: number; readonly c: number };

export type Scene = {
  readonly state: State;
  readonly one: Intent;
  readonly view: View;
  readonly stream: Stream;
};
type Act = (scene: Scene, frames: readonly Frame[]) => FrameEntry | null;

/** Null where the intent has nothing to work on, such as an undo with no step. */
export const acts: Readonly<Record<Verb, Act>> = {
  say: (scene) => blocks(scene, { kinds: [pick(blockKinds, scene.one.b) as BlockKind], pair: false }),
  whisper: (scene) => blocks(scene, { kinds: ["ambient"], pair: false }, { ephemeral: true }),
  call: (scene) => blocks(scene, { kinds: ["reasoning", "tool-call", "tool-call"], pair: true }),
  "answer-call": answerCall,
  send: (scene) => sendTurn(scene, (path) => path.length),
  rewind: (scene) => sendTurn(scene, (path) => (path.length === 0 ? 0 : scene.one.b % path.length)),
  rewrite: (scene) => sendTurn(scene, (path) => (path.length === 0 ? 0 : scene.one.b % path.length), true),
  answer: answerTurn,
  run: ({ state, stream }) => {
    const { run } = runNow(now(state), stream);
    return entry(stream, "request", [{ type: "run-started", stream: stream.id, from: run, to: run + 1 }]);
  },
  fork: openFork,
  agent: openAgent,
  level: (scene) =>
    changed(scene, (change) =>
      changes.setLevel(change, targets(scene), pick(levels, scene.one.c) ?? "trimmed"),
    ),
  pin: (scene) =>
    changed(scene, (change) => changes.pin(change, targets(scene), scene.one.c % 2 ? "top" : "bottom")),
  unpin: (scene) => changed(scene, (change) => changes.unpin(change, targets(scene))),
  archive: (scene) =>
    changed(scene, (change) => unwrap(changes.archive(change, targets(scene), "done with it"))),
  restore: (scene) => changed(scene, (change) => changes.restore(change, targets(scene))),
  focus: (scene) => changed(scene, (change) => changes.focus(change, targets(scene))),
  select: (scene) => changed(scene, (change) => changes.select(change, targets(scene))),
  withhold: (scene) =>
    changed(
      scene,
      (change) =>
        unwrap(changes.withhold({ ...change, actor: "user" }, targets(scene), scene.one.c % 2 === 0)),
      "user",
    ),
  reference: (scene) => changed(scene, (change) => changes.reference(change, targets(scene))),
  supersede: (scene) => {
    const [older, newer] = targets(scene);
    return older === undefined || newer === undefined
      ? null
      : changed(scene, (change) => changes.supersede(change, older, newer));
  },
  expire: (scene) => changed(scene, (change) => changes.expire(change, turnOf(0)), "policy"),
  remember: (scene) => {
    const { blocks: ids, message, reserved } = freeIds(scene, 1);
    // Ids are reserved for good: they are no part of what a step can take back.
    if (reserved.length > 0) return entry(scene.stream, "request", reserved);
    const wish = memoryWish(scene.one, { id: ids[0] as BlockId, message, older: targets(scene)[0] ?? null });
    return changed(scene, (change) => unwrap(changes.addMemory(change, wish)));
  },
  rendition: (scene) =>
    noted(scene, (id) => {
      const level = pick(levels, scene.one.c) ?? "trimmed";
      const from = attributesOf(now(scene.state), id)?.renditions[level] ?? null;
      const to = { content: hashContent(`r${scene.one.b}`), tokens: { count: scene.one.b, exact: false } };
      return { type: "rendition-set", block: id, level, from, to };
    }),
  topics: (scene) =>
    noted(scene, (id) => {
      const from = attributesOf(now(scene.state), id)?.topics ?? [];
      return { type: "topics-set", block: id, from, to: [`topic ${scene.one.c % 5}`] };
    }),
  scope: (scene) =>
    noted(scene, (id) => {
      const from = attributesOf(now(scene.state), id)?.scope ?? "session";
      return { type: "scope-set", block: id, from, to: from === "session" ? "project" : "session" };
    }),
  tokens: (scene) => {
    const id = targets(scene).find((block) => attributesOf(now(scene.state), block)?.tokens === null);
    const tokens = { count: scene.one.c, exact: scene.one.c % 2 === 0 };
    return id === undefined
      ? null
      : entry(scene.stream, "response", [{ type: "tokens-counted", block: id, tokens }]);
  },
  purge: (scene) => {
    const [id] = targets(scene);
    const purge: Delta[] = id === undefined ? [] : [{ type: "block-purged", block: id }];
    return id === undefined || scene.one.c % 8
      ? null
      : { ...entry(scene.stream, "command", purge), actor: "user" };
  },
  exchange: ({ state, stream, one }) => entry(stream, "request", [openingOf(state, stream.id, one)]),
  "close-exchange": ({ state, stream, one }) => {
    const closing = closingOf(state, one);
    return closing === null ? null : entry(stream, "response", [closing]);
  },
  identify: ({ state, stream }) =>
    state.identity === null ? entry(stream, "session", [deltaExamples["session-identified"]]) : null,
  ...ruleActs,
  undo: (scene, frames) => reversed(scene, frames, true),
  redo: (scene, frames) => reversed(scene, frames, false),
};

function entry(stream: Stream, type: Cause["type"], deltas: readonly Delta[]): FrameEntry {
  return { stream: stream.id, actor: "client", cause: { type, step: null, reason: "" }, deltas };
}

function command(state: State, reason: string): Cause {
  return { type: "command", step: nextStepId(state), reason };
}

/** A few new blocks of one message, with ids reserved on the way where they have run out. */
type Added = { readonly kinds: readonly BlockKind[]; readonly pair: boolean };

function blocks(scene: Scene, { kinds, pair }: Added, over: Partial<Block> = {}): FrameEntry | null {
  const { message, ...ids } = freeIds(scene, kinds.length);
  const turn = turnOf(turnNow(now(scene.state), scene.stream) + 1);
  const deltas = kinds.map((kind, index): Delta => {
    const id = ids.blocks[index] as BlockId;
    const made = aBlock({ scene, id, kind, message, turn, pair: pair ? message : null });
    return { type: "block-added", block: { ...made, ...over } };
  });
  return entry(scene.stream, "request", [...ids.reserved, ...deltas]);
}

type Making = {
  readonly scene: Scene;
  readonly id: BlockId;
  readonly kind: BlockKind;
  readonly message: MessageId;
  readonly turn: Block["turn"];
  readonly pair: MessageId | null;
};

function aBlock({ scene, id, kind, message, turn, pair }: Making): Block {
  const spanTurns = 1 + (scene.one.c % 4);
  const form = contentForms[scene.one.c % (contentForms.length + 1)];
  return {
    ...(form === undefined ? {} : { form }),
    id,
    kind,
    stream: scene.stream.id,
    message,
    turn,
    speaker: "someone",
    content: hashContent(`content ${scene.one.b % 50}`),
    anchor: `anchor-${id}`,
    pair,
    taint: kind === "tool-result" ? "untrusted" : "user",
    supersedes: null,
    ttl: scene.one.c % 3 === 0 ? null : { at: turnOf(turn + spanTurns), spanTurns },
  };
}

/** Results come in a message of their own and join the pair of an earlier call. */
function answerCall(scene: Scene): FrameEntry | null {
  const call = [...viewBlocks(now(scene.state), scene.view)].findLast(
    (block) => block.kind === "tool-call" && block.stream === scene.stream.id,
  );
  const made = call === undefined ? null : blocks(scene, { kinds: ["tool-result"], pair: false });
  if (call === undefined || made === null) return null;
  const joined = made.deltas.map(
    (delta): Delta =>
      delta.type === "block-added" ? { ...delta, block: { ...delta.block, pair: call.pair } } : delta,
  );
  return { ...made, deltas: joined };
}

function freeIds(scene: Scene, count: number) {
  const { state, stream } = scene;
  const reserved: Delta[] = [];
  const free = (of: "block" | "message", wanted: number): number[] => {
    const taken = of === "block" ? state.blocks : state.messages;
    const ids = stream.reserved[of].flatMap(({ from, to }) => range(from, to)).filter((id) => !taken.get(id));
    if (ids.length >= wanted) return ids;
    // Now and then a range is left to somebody else.
    const from = state.next[of] + (state.seq % 3 === 0 ? 100 : 0);
    reserved.push({ type: "ids-reserved", stream: stream.id, of, from, to: from + 100 });
    return [...ids, ...range(from, from + 100)];
  };
  const blockIds = free("block", count) as BlockId[];
  return { blocks: blockIds, message: messageId(free("message", 1)[0] as number), reserved };
}

/** Sends the blocks that are not in the ledger yet, below a unit of the last path chosen by the caller. */
function sendTurn(scene: Scene, keep: (path: readonly UnitId[]) => number, epoch = false): FrameEntry | null {
  const { state, view, stream } = scene;
  const path = sentPath(now(state), view);
  const kept = path.slice(0, keep(path));
  const cut = kept.at(-1) ?? null;
  const inLedger = new Set(kept.flatMap((id) => state.units.get(id)?.shows.map(({ block }) => block) ?? []));
  const fresh = [...viewBlocks(now(state), view)].filter(({ id }) => !inLedger.has(id)).slice(0, 6);
  if (fresh.length === 0 && cut === null) return null;
  const units = fresh.map(({ id, message }, index): Unit => {
    const as = pick([...levels, "placeholder"] as const, scene.one.c + index) ?? "original";
    const parent = index === 0 ? cut : ((state.units.size + index - 1) as UnitId);
    const at = { id: (state.units.size + index) as UnitId, stream: stream.id, parent, message };
    return {
      ...at,
      origin: "client",
      anchor: `u${id}`,
      bytes: hashContent(`unit ${id}`),
      shows: [{ block: id, as }],
    };
  });
  const leaf = units.at(-1)?.id ?? (cut as UnitId);
  const turn = turnOf(turnNow(now(state), stream) + 1);
  const number = epochNow(now(state), view) + 1;
  const started: Delta[] = epoch
    ? [{ type: "epoch-started", view: view.id, epoch: number, cut, reason: "user", means: "own" }]
    : [];
  return entry(stream, "request", [
    ...started,
    ...units.map((unit): Delta => ({ type: "unit-sent", unit })),
    { type: "turn-sent", view: view.id, turn, leaf, exchange: turn },
  ]);
}

function answerTurn({ state, view, stream, one }: Scene): FrameEntry | null {
  const sent = lastSentTurn(now(state), view);
  const usage = { input: one.b, cacheRead: one.c, cacheWrite: 0, output: 1 };
  return sent === null
    ? null
    : entry(stream, "response", [
        { type: "turn-answered", view: view.id, turn: sent.turn, outcome: "complete", usage },
      ]);
}

/** A stream that leaves another at a past seq, with a view that takes over the facts of that time. */
function openFork({ state, view, stream, one }: Scene): FrameEntry | null {
  if (state.streams.size > 6) return null;
  const seq = seqOf(Math.max(view.openedSeq, stream.openedSeq) + (one.b % (state.seq - view.openedSeq + 1)));
  if (seq > state.seq) return null;
  const id = streamId(state.streams.size);
  return {
    ...entry(stream, "request", [
      { type: "stream-opened", stream: id, name: `fork ${id}`, parent: { stream: stream.id, seq } },
      {
        type: "view-opened",
        view: nextView(state),
        stream: id,
        agent: "model",
        parent: { view: view.id, seq },
      },
    ]),
    stream: id,
  };
}

function openAgent({ state, view, stream }: Scene): FrameEntry | null {
  if (state.views.size > 8) return null;
  const parent = { view: view.id, seq: state.seq };
  const agent = `agent ${state.views.size}`;
  return entry(stream, "session", [
    { type: "view-opened", view: nextView(state), stream: stream.id, agent, parent },
  ]);
}

function nextView(state: State): ViewId {
  return viewId(state.views.size);
}

function changed(scene: Scene, make: (change: ChangeContext) => Proposal, by?: Actor): FrameEntry | null {
  const actor = by ?? (pick(["model", "user", "policy"] as const, scene.one.b) as Actor);
  const { deltas } = make({ moment: now(scene.state), view: scene.view, actor });
  const cause: Cause = {
    ...command(scene.state, scene.one.verb),
    type: actor === "policy" ? "policy" : "command",
  };
  return deltas.length === 0 ? null : { stream: scene.stream.id, actor, cause, deltas };
}

function noted(scene: Scene, make: (id: BlockId) => Delta): FrameEntry | null {
  const [id] = targets(scene);
  return id === undefined
    ? null
    : {
        stream: scene.stream.id,
        actor: "model",
        cause: command(scene.state, scene.one.verb),
        deltas: [make(id)],
      };
}

/**
 * Undo or redo of a random step; a conflict or a purge in it is a legal outcome, and then nothing happens.
 */
function reversed(scene: Scene, frames: readonly Frame[], done: boolean): FrameEntry | null {
  const steps = [...scene.state.steps.entries()].filter(([, step]) => step.log.value.done === done);
  const step = pick(steps, scene.one.b)?.[1];
  if (step === undefined) return null;
  const its = step.log.value.frames.map((seq) => frames[seq - 1] as Frame);
  const deltas: Result<readonly Delta[]> = reverse(scene.state, step, its);
  const cause: Cause = { type: done ? "undo" : "redo", step: step.id, reason: step.reason };
  return deltas.ok ? { stream: step.stream, actor: "user", cause, deltas: deltas.value } : null;
}

/** One to three blocks the view reaches. */
function targets({ state, view, one }: Scene): BlockId[] {
  const all = [...viewBlocks(now(state), view)].flatMap(({ id, ephemeral }) => (ephemeral ? [] : [id]));
  const start = all.length === 0 ? 0 : one.b % all.length;
  return all.slice(start, start + 1 + (one.c % 3));
}

export function pick<T>(choices: readonly T[], n: number): T | undefined {
  return choices[n % Math.max(1, choices.length)];
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
