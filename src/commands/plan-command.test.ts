import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, hashContent, unwrap } from "../base/index.ts";
import type { Actor, Level } from "../engine/frames/index.ts";
import { parseCommand } from "./grammar.ts";
import { noCommands } from "./limit.ts";
import { type CommandPlan, planCommand } from "./plan-command.ts";

class Scene extends TestSession {
  result(tokens: number, smaller: Partial<Record<Level, number>> = {}): BlockId {
    const block = this.add({ kind: "tool-result", taint: "untrusted" });
    this.append([{ type: "tokens-counted", block, tokens: { count: tokens, exact: true } }]);
    for (const [level, count] of Object.entries(smaller)) {
      const to = { content: hashContent(level), tokens: { count, exact: true } };
      this.append([{ type: "rendition-set", block, level: level as Level, from: null, to }]);
    }
    return block;
  }

  plan(text: string, actor: Actor = "model"): CommandPlan {
    return planCommand(this.by(actor), unwrap(parseCommand(text)), {
      findByTopic: () => [],
      mode: "auto",
      isTainted: false,
      permissions: [],
      history: noCommands,
      windowTokens: 100_000,
      countTokens: (words) => words.length,
      isInPlace: true,
    });
  }
}

describe("a plan", () => {
  it("counts the tokens that a level or an archive would free", () => {
    const scene = new Scene();
    const [first, second] = [scene.result(1_000, { trimmed: 300 }), scene.result(500, { trimmed: 450 })];
    expect(scene.plan(`@compress(${first}, ${second})`)).toMatchObject({
      changedTokens: 1_500,
      freedTokens: 750,
      unsized: [],
    });
    expect(scene.plan(`@archive(${first}, ${second}, 'old')`)).toMatchObject({
      changedTokens: 1_500,
      freedTokens: 1_500,
    });
    expect(scene.plan(`@pin(${first})`)).toMatchObject({ changedTokens: 0, freedTokens: 0 });
  });

  it("counts from the present level, and restoring as a cost", () => {
    const scene = new Scene();
    const [short, cold] = [
      scene.result(1_000, { trimmed: 300, minimal: 10 }),
      scene.result(400, { minimal: 5 }),
    ];
    scene.set(short, { level: "trimmed" });
    scene.set(cold, { archive: { reason: "old" } });
    expect(scene.plan(`@compress(${short}, minimal)`)).toMatchObject({
      changedTokens: 300,
      freedTokens: 290,
    });
    expect(scene.plan(`@compress(${cold}, minimal)`)).toMatchObject({ changedTokens: 0, freedTokens: 0 });
    expect(scene.plan(`@expand(${short}, ${cold})`, "user")).toMatchObject({ freedTokens: -1_100 });
  });

  it("names blocks whose size is not known yet", () => {
    const scene = new Scene();
    const [known, unknown] = [scene.result(1_000, { minimal: 20 }), scene.result(1_000)];
    expect(scene.plan(`@compress(${known}, ${unknown}, minimal)`)).toMatchObject({
      freedTokens: 980,
      unsized: [unknown],
    });
  });

  it("lists locked blocks without purged ones, and the facts of other actors it would change", () => {
    const scene = new Scene();
    const [pinned, users, policys, models] = [
      scene.result(9),
      scene.result(9),
      scene.result(9),
      scene.result(9),
    ];
    const purged = scene.result(9);
    scene.set(pinned, { pin: "top" }, { by: "model" });
    scene.set(users, { level: "trimmed" }, { by: "user" });
    scene.set(policys, { level: "trimmed" }, { by: "policy" });
    scene.set(models, { level: "trimmed" }, { by: "model" });
    scene.append([{ type: "block-purged", block: purged }]);
    const plan = scene.plan("@compress(1..9, minimal)");
    expect(plan.locks.map(({ block, error }) => [block, error.code])).toEqual([
      [pinned, "AP_CHANGE_PINNED"],
      [users, "AP_CHANGE_LOCKED"],
    ]);
    expect(plan.conflicts).toEqual([{ block: policys, fact: "level", by: "policy" }]);
    expect(scene.plan("@expand(1..9)", "user").conflicts.map(({ block, by }) => [block, by])).toEqual([
      [policys, "policy"],
      [models, "model"],
    ]);
  });
});
