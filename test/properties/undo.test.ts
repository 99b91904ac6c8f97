import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, unwrap } from "../../src/base/index.ts";
import {
  describe as described,
  type Frame,
  nextStep,
  now,
  reduce,
  reverse,
  type State,
  type Step,
} from "../../src/engine/index.ts";
import type { Intent, Verb } from "../support/random-acts.ts";
import { intents, live, sealed } from "../support/random-session.ts";
import { numRuns } from "../support/runs.ts";

/**
 * All a reader can see, but for the seq and the list of steps, which say that something was undone, and for
 * what ends with its frame: an undo is a frame more.
 */
function visible(state: State): string {
  const { steps: _, seq: __, ...rest } = described(now(state)) as Record<string, unknown>;
  const isLasting = (one: unknown): boolean => !JSON.stringify(one).includes('"ephemeral":true');
  return canonicalJson(
    JSON.parse(canonicalJson(rest), (key, value) =>
      key === "blocks" && Array.isArray(value) ? value.filter(isLasting) : value,
    ),
  );
}

function reversed(state: State, frames: readonly Frame[]): { state: State; frames: readonly Frame[] } {
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

describe("undo appends, and leads back", () => {
  it("undo of what was just done is identity, redo does it again, and so on for ever", () => {
    fc.assert(
      fc.property(intents(40), (list) => {
        const { states, frames } = live(list);
        for (let seq = 1; seq < states.length; seq += 1) {
          const [before, after] = [states[seq - 1] as State, states[seq] as State];
          if (nextStep(after) === nextStep(before)) continue;
          const undone = reversed(after, frames.slice(0, seq));
          expect(visible(undone.state)).toBe(visible(before));
          const redone = reversed(undone.state, undone.frames);
          expect(visible(redone.state)).toBe(visible(after));
          const again = reversed(redone.state, redone.frames);
          expect(visible(again.state)).toBe(visible(before));
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

  it("what was removed and added again is there as before", () => {
    const intent = (verb: Verb): Intent => ({ verb, a: 0, b: 0, c: 0 });
    const { states } = live([
      intent("remember"),
      intent("undo"),
      intent("redo"),
      intent("undo"),
      intent("redo"),
    ]);
    expect(states).toHaveLength(7);
    const seen = states.slice(2).map(visible);
    expect(new Set([seen[0], seen[2], seen[4]]).size).toBe(1);
    expect(new Set([seen[1], seen[3]]).size).toBe(1);
    expect(seen[0]).not.toBe(seen[1]);
  });
});
