import { type BlockId, hashContent, type Result, unwrap } from "../../src/base/index.ts";
import type { MemoryInput } from "../../src/engine/change-memory.ts";
import { type PermissionKey, permissionScopes } from "../../src/engine/frames/approval.ts";
import { type Actor, type Cause, type Delta, modes, permissionRules } from "../../src/engine/frames/index.ts";
import {
  type ChangeContext,
  nextStepId,
  ruleChanges,
  type State,
  type Stream,
  type View,
} from "../../src/engine/index.ts";
import { now, viewBlocks } from "../../src/engine/moment/index.ts";
import { approvalsOf } from "../../src/engine/moment/moment.ts";
import type { FrameEntry } from "../../src/log/session-log.ts";

export const ruleVerbs = ["ask", "decide", "permit", "spend", "mode"] as const;

type Scene = {
  readonly state: State;
  readonly one: { readonly verb: string; readonly a: number; readonly b: number; readonly c: number };
  readonly view: View;
  readonly stream: Stream;
};

/** What waits for the user, and what the user says for later, in random sessions. */
export const ruleActs = {
  ask: (scene: Scene) =>
    appended(scene, "model", ruleChanges.askApprovals(by(scene, "model"), [approvalsIn(scene)])),
  decide,
  permit: (scene: Scene) => taken(scene, unwrap(permitted(scene))),
  spend: (scene: Scene) =>
    appended(scene, "policy", ruleChanges.spendPermission(by(scene, "policy"), keyOf(scene))),
  mode: (scene: Scene) => {
    const to = [...modes, null][scene.one.c % 4] ?? null;
    return taken(scene, unwrap(ruleChanges.setMode(by(scene, "user"), to)));
  },
  name: (scene: Scene) => {
    const to = ["fix-auth", "docs", null][scene.one.c % 3] ?? null;
    return taken(scene, unwrap(ruleChanges.setName(by(scene, "user"), to)));
  },
};

type Remembering = Pick<MemoryInput, "id" | "message"> & { readonly older: BlockId | null };

export function memoryWish({ b, c }: Scene["one"], { id, message, older }: Remembering): MemoryInput {
  return {
    id,
    message,
    content: hashContent(`content ${b % 50}`),
    tokens: { count: c, exact: false },
    topic: c % 2 === 0 ? null : `topic ${c % 5}`,
    supersedes: b % 2 === 0 ? null : older,
    isTainted: c % 3 === 0,
  };
}

/** By time now and then, else by the user. */
function decide(scene: Scene): FrameEntry | null {
  const late = ruleChanges.expireApprovals(by(scene, "policy"));
  if (late.length > 0) return appended(scene, "policy", late);
  const waiting = approvalsOf(now(scene.state), scene.view).filter(({ stand }) => stand === "waiting");
  const one = waiting[scene.one.b % Math.max(1, waiting.length)];
  const to = scene.one.c % 2 === 0 ? "approved" : "denied";
  return one === undefined
    ? null
    : appended(scene, "user", [
        unwrap(ruleChanges.decideApproval(by(scene, "user"), one.id, { to, reason: "so be it" })),
      ]);
}

function approvalsIn({ state, view, one }: Scene) {
  const all = [...viewBlocks(now(state), view)].map(({ id }) => id);
  const blocks: readonly BlockId[] = all.slice(one.b % (all.length + 1)).slice(0, one.c % 3);
  const [block] = blocks;
  return {
    verb: "update",
    command: `@update(${blocks.map((id) => `block-${id}`).join(", ")})`,
    text: one.c % 4 === 0 ? null : hashContent(`told ${one.b % 20}`),
    blocks,
    why: "the user wrote it",
    tokens: { count: one.c, exact: false },
    source: block === undefined ? null : { block, start: one.b, length: 40 },
  };
}

function permitted(scene: Scene): Result<readonly Delta[]> {
  const { b, c } = scene.one;
  const rule = permissionRules[b % 3] ?? "ask";
  const scope = permissionScopes[c % 3] ?? "once";
  return ruleChanges.setPermission(by(scene, "user"), keyOf(scene), c % 5 === 0 ? null : { rule, scope });
}

function keyOf({ one }: Scene): PermissionKey {
  return { actor: one.a % 2 === 0 ? "model" : "sidecar", verb: one.b % 2 === 0 ? "archive" : "create" };
}

function by({ state, view }: Scene, actor: Actor): ChangeContext {
  return { moment: now(state), view, actor };
}

/** Without a step: it cannot be taken back. */
function appended({ stream }: Scene, actor: Actor, deltas: readonly Delta[]): FrameEntry | null {
  const cause: Cause = { type: actor === "policy" ? "policy" : "command", step: null, reason: "" };
  return deltas.length === 0 ? null : { stream: stream.id, actor, cause, deltas };
}

/** As a step of the user. */
function taken({ state, stream, one }: Scene, deltas: readonly Delta[]): FrameEntry | null {
  const cause: Cause = { type: "command", step: nextStepId(state), reason: one.verb };
  return deltas.length === 0 ? null : { stream: stream.id, actor: "user", cause, deltas };
}
