import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, unwrap } from "../../src/base/index.ts";
import type { Frame } from "../../src/engine/frames/index.ts";
import { nextStepId, reduce, reverse, type State, type Step } from "../../src/engine/index.ts";
import { now } from "../../src/engine/moment/index.ts";
import { describeMoment } from "../support/describe-moment.ts";
import type { Intent, Verb } from "../support/random-acts.ts";
import { intents, live, sealed } from "../support/random-session.ts";
import { numRuns } from "../support/runs.ts";

/**
 * All a reader can see, without the seq and the list of steps, which show that something was undone, and
 * without ephemeral blocks: an undo adds a frame, which ends them.
 */
function visibleState(state: State): string {
  const { steps: _, seq: __, ...rest } = describeMoment(now(state)) as Record<string, unknown>;
  const isLasting = (one: unknown): boolean => !JSON.stringify(one).includes('"ephemeral":true');
  return canonicalJson(
    JSON.parse(canonicalJson(rest), (key, value) =>
      key === "blocks" && Array.isArray(value) ? value.filter(isLasting) : value,
    ),
  );
}

function reverseLast(state: State, frames: readonly Frame[]): { state: State; frames: readonly Frame[] } {
  const step = state.steps.last as Step;
  const its = step.log.value.frames.map((seq) => frames[seq - 1] as Frame);
  const deltas = unwrap(reverse(state, step, its));
  const type = step.log.value.done ? "undo" : "redo";
  const entry = {
    stream: step.stream,
    actor: "user",
    cause: { type, step: step.id, reason: "" },
    deltas,
  } as const;
  const frame = sealed(state, entry);
  return { state: unwrap(reduce(state, frame)), frames: [...frames, frame] };
}

describe("undo", () => {
  it("undo of the last step restores the state, redo does it again, any number of times", () => {
    fc.assert(
      fc.property(intents(40), (list) => {
        const { states, frames } = live(list);
        for (let seq = 1; seq < states.length; seq += 1) {
          const [before, after] = [states[seq - 1] as State, states[seq] as State];
          if (nextStepId(after) === nextStepId(before)) continue;
          const undone = reverseLast(after, frames.slice(0, seq));
          expect(visibleState(undone.state)).toBe(visibleState(before));
          const redone = reverseLast(undone.state, undone.frames);
          expect(visibleState(redone.state)).toBe(visibleState(after));
          const again = reverseLast(redone.state, redone.frames);
          expect(visibleState(again.state)).toBe(visibleState(before));
        }
      }),
      numRuns(120),
    );
  });

  it("a step that cannot be reversed names a frame that came after it", () => {
    let conflicts = 0;
    fc.assert(
      fc.property(intents(60), (list) => {
        const { states, frames } = live(list);
        const state = states.at(-1) as State;
        for (const [, step] of state.steps.entries()) {
          const its = step.log.value.frames.map((seq) => frames[seq - 1] as Frame);
          const result = reverse(state, step, its);
          if (result.ok) continue;
          conflicts += 1;
          expect(["AP_UNDO_CONFLICT", "AP_UNDO_IRREVERSIBLE"]).toContain(result.error.code);
          if (result.error.code !== "AP_UNDO_CONFLICT") continue;
          expect(result.error.details["seq"]).toBeGreaterThan(its.at(-1)?.seq ?? 0);
          expect(result.error.details["seq"]).toBeLessThanOrEqual(state.seq);
        }
      }),
      numRuns(150),
    );
    expect(conflicts).toBeGreaterThan(0);
  });

  it("a block that was removed and added again is as before", () => {
    const intent = (verb: Verb): Intent => ({ verb, a: 0, b: 0, c: 0 });
    const { states } = live([
      intent("remember"),
      intent("undo"),
      intent("redo"),
      intent("undo"),
      intent("redo"),
    ]);
    expect(states).toHaveLength(7);
    const seen = states.slice(2).map(visibleState);
    expect(new Set([seen[0], seen[2], seen[4]]).size).toBe(1);
    expect(new Set([seen[1], seen[3]]).size).toBe(1);
    expect(seen[0]).not.toBe(seen[1]);
  });
});
