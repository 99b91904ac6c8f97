import {
  blockId,
  hashContent,
  messageId,
  seqOf,
  streamId,
  turnOf,
  unitId,
  viewId,
} from "../../src/base/index.ts";
import type { DeltaType } from "../../src/engine/frames/delta.ts";
import type { Block, Delta, FactName, FactValues, Unit } from "../../src/engine/frames/index.ts";

export const exampleBlock: Block = {
  id: blockId(7),
  kind: "tool-result",
  stream: streamId(1),
  message: messageId(4),
  turn: turnOf(3),
  speaker: "client",
  content: hashContent("content"),
  anchor: "toolu_7",
  pair: messageId(3),
  taint: "untrusted",
  supersedes: blockId(2),
  ttl: { at: turnOf(23), spanTurns: 20 },
};

export const exampleUnit: Unit = {
  id: unitId(5),
  stream: streamId(1),
  parent: unitId(4),
  message: messageId(4),
  origin: "client",
  anchor: "toolu_7",
  bytes: hashContent("bytes"),
  shows: [{ block: blockId(7), as: "trimmed" }],
};

const [stream, view, block] = [streamId(1), viewId(1), blockId(7)];
const tokens = { count: 12, exact: true };

type Examples = { readonly [T in DeltaType]: Extract<Delta, { readonly type: T }> };
type FactExample<F extends FactName> = Extract<Delta, { readonly type: `${F}-set` }>;

function factSet<F extends FactName>(fact: F, from: FactValues[F], to: FactValues[F]): FactExample<F> {
  const values = { from: { value: from, by: "policy" }, to: { value: to, by: "model" } };
  return { type: `${fact}-set`, view, block, ...values } as unknown as FactExample<F>;
}

/** One of each type, well formed. A new type does not compile here until it has one. */
export const deltaExamples: Examples = {
  "stream-opened": { type: "stream-opened", stream, name: "side", parent: { stream, seq: seqOf(1) } },
  "view-opened": { type: "view-opened", view, stream, agent: "model", parent: { view, seq: seqOf(1) } },
  "ids-reserved": { type: "ids-reserved", stream, of: "block", from: 1, to: 101 },
  "run-started": { type: "run-started", stream, from: 0, to: 1 },
  "block-added": { type: "block-added", block: exampleBlock },
  "block-removed": { type: "block-removed", block: exampleBlock },
  "block-purged": { type: "block-purged", block },
  "tokens-counted": { type: "tokens-counted", block, tokens },
  "topics-set": { type: "topics-set", block, from: [], to: ["auth.ts"] },
  "scope-set": { type: "scope-set", block, from: "session", to: "project" },
  "rendition-set": {
    type: "rendition-set",
    block,
    level: "trimmed",
    from: null,
    to: { content: hashContent("trimmed"), tokens },
  },
  "level-set": factSet("level", "original", "trimmed"),
  "pin-set": factSet("pin", "none", "top"),
  "ttl-set": factSet("ttl", null, { at: turnOf(9), spanTurns: 4 }),
  "focus-set": factSet("focus", null, { run: 2, until: turnOf(22) }),
  "selection-set": factSet("selection", false, true),
  "archive-set": factSet("archive", null, { reason: "done" }),
  "withhold-set": factSet("withhold", false, true),
  "reference-set": factSet("reference", { turn: turnOf(1), count: 0 }, { turn: turnOf(2), count: 1 }),
  "supersession-set": factSet("supersession", null, blockId(9)),
  "unit-sent": { type: "unit-sent", unit: exampleUnit },
  "turn-sent": { type: "turn-sent", view, turn: turnOf(3), leaf: unitId(5), exchange: 3 },
  "turn-answered": {
    type: "turn-answered",
    view,
    turn: turnOf(3),
    outcome: "complete",
    usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
  },
  "session-identified": {
    type: "session-identified",
    identity: { owner: "local", upstream: "anthropic", client: "claude-code", key: "k1", project: null },
  },
  "exchange-opened": {
    type: "exchange-opened",
    exchange: {
      id: 2,
      request: "ap-1-2",
      stream,
      role: "turn",
      relation: "retry",
      of: 1,
      model: "claude-opus-5-5",
      target: "POST /v1/messages?beta=true",
      bytes: 812,
      rendering: "managed",
    },
  },
  "exchange-closed": {
    type: "exchange-closed",
    end: {
      exchange: 2,
      outcome: "complete",
      status: 200,
      usage: { input: 1, cacheRead: 2, cacheWrite: 3, output: 4 },
      bytes: 3_044,
      firstByteMs: 212,
      totalMs: 1_480,
      stop: "end_turn",
      problem: null,
    },
  },
  "approval-asked": {
    type: "approval-asked",
    approval: {
      id: 1,
      view,
      actor: "model",
      verb: "update",
      command: "@update(block-7)",
      text: hashContent("the port is 8080"),
      blocks: [block],
      why: "the user wrote it",
      tokens,
      source: { block, start: 120, length: 60 },
      turn: turnOf(3),
      until: turnOf(23),
    },
  },
  "approval-decided": {
    type: "approval-decided",
    approval: 1,
    from: "waiting",
    to: "approved",
    by: "user",
    reason: "yes",
  },
  "permission-set": {
    type: "permission-set",
    view,
    actor: "model",
    verb: "archive",
    from: null,
    to: { rule: "allow", scope: "turn", until: turnOf(3) },
  },
  "mode-set": { type: "mode-set", from: null, to: "ask" },
  "name-set": { type: "name-set", from: null, to: "fix-auth" },
  "epoch-started": { type: "epoch-started", view, epoch: 1, cut: unitId(4), reason: "price", means: "own" },
};
