import { describe, expect, it } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { type BlockId, blockId, must, turnOf, unwrap } from "../base/index.ts";
import type { Actor } from "../engine/frames/index.ts";
import { type ChangeContext, changes } from "../engine/index.ts";
import { type Command, verbs } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import { noCommands } from "./limit.ts";
import { type CommandContext, type CommandProposal, proposeCommand } from "./propose.ts";

const free: CommandContext = {
  findByTopic: () => [],
  mode: "auto",
  isTainted: false,
  permissions: [],
  history: noCommands,
  windowTokens: 10_000,
  countTokens: (text) => text.length,
  isInPlace: false,
};

const read = (text: string): Command => unwrap(parseCommand(text));

/** A session of tool results, which every actor may change. */
class Scene extends TestSession {
  result(tokens = 100): BlockId {
    const block = this.add({ kind: "tool-result", taint: "untrusted" });
    this.append([{ type: "tokens-counted", block, tokens: { count: tokens, exact: true } }]);
    return block;
  }

  propose(text: string, over: Partial<CommandContext> = {}, actor: Actor = "model"): CommandProposal {
    return proposeCommand(this.by(actor), read(text), { ...free, ...over });
  }
}

const nothing = { deltas: [], skipped: [], approvals: [], refused: null, lookups: [], memories: [] };
const codes = ({ skipped }: CommandProposal) => skipped.map(({ block, error }) => [block, error.code]);

describe("a command that changes facts", () => {
  const engine: readonly (readonly [
    string,
    (change: ChangeContext, blocks: readonly BlockId[]) => unknown,
  ])[] = [
    ["@compress(#, minimal)", (change, blocks) => changes.setLevel(change, blocks, "minimal")],
    ["@pin(#, bottom)", (change, blocks) => changes.pin(change, blocks, "bottom")],
    ["@unpin(#)", changes.unpin],
    ["@archive(#, 'done')", (change, blocks) => unwrap(changes.archive(change, blocks, "done"))],
  ];

  it.each(engine)("%s is what the engine makes of it", (text, verb) => {
    const scene = new Scene();
    const block = scene.result();
    scene.set(block, { pin: text.includes("unpin") ? "top" : "none" }, { by: "model" });
    const proposed = scene.propose(text.replace("#", `${block}`));
    const { deltas, skipped } = verb(scene.by("model"), [block]) as CommandProposal;
    expect(proposed).toMatchObject({ ...nothing, deltas, skipped });
    expect(deltas.length).toBeGreaterThan(0);
    scene.take(proposed);
  });

  it("changes every block of its target, and names those it must skip", () => {
    const scene = new Scene();
    const system = scene.add({ kind: "system" });
    const [first, locked, last] = [scene.result(), scene.result(), scene.result()];
    scene.set(locked, { level: "original" }, { by: "user" });
    const proposed = scene.propose(`@compress(1..99, trimmed)`);
    expect(codes(proposed)).toEqual([
      [system, "AP_COMMAND_REFUSED"],
      [locked, "AP_CHANGE_LOCKED"],
    ]);
    expect(proposed.skipped[0]?.error.message).toBe(
      `compress of #${system} is not allowed: it belongs to the system prompt.`,
    );
    scene.take(proposed);
    expect([first, last].map((id) => scene.fact(id, "level"))).toEqual(["trimmed", "trimmed"]);
  });

  it("that changes nothing is no failure", () => {
    const scene = new Scene();
    const block = scene.result();
    scene.set(block, { level: "trimmed" }, { by: "model" });
    expect(scene.propose("@archive(stale, 'old')")).toMatchObject({
      ...nothing,
      history: { failures: 0, commands: 1 },
    });
    expect(scene.propose(`@compress(${block}, trimmed)`)).toMatchObject({
      ...nothing,
      history: { failures: 0 },
    });
  });

  it("changes nothing at all when its target is unknown", () => {
    const scene = new Scene();
    const block = scene.result();
    const proposed = scene.propose(`@archive(${block}, #99, 'old')`);
    expect(proposed).toMatchObject({
      ...nothing,
      refused: { code: "AP_BLOCKS_UNKNOWN" },
      history: { failures: 1 },
    });
  });
});

describe("a command that waits", () => {
  it("groups its blocks by the reason they wait for, and does the rest", () => {
    const scene = new Scene();
    const [first, second] = [scene.add(), scene.add()];
    scene.append([{ type: "tokens-counted", block: first, tokens: { count: 40, exact: true } }]);
    const result = scene.result();
    scene.add();
    const proposed = scene.propose("@archive(1..3, 'done')");
    expect(proposed.approvals).toEqual([
      { blocks: [first, second], why: "the user wrote it, and only trimmed is free", tokens: 40 },
    ]);
    expect(proposed.deltas.map((delta) => "block" in delta && delta.block)).toEqual([result]);
  });

  it("is done once the user has agreed", () => {
    const scene = new Scene();
    const [earlier] = [scene.add(), scene.add()];
    const once = { verb: "archive", actor: "model", zone: "all", answer: "allow", lasts: "once" } as const;
    const proposed = scene.propose(`@archive(${earlier}, 'done')`, { permissions: [once], isTainted: true });
    expect(proposed.approvals).toEqual([]);
    scene.take(proposed);
    expect(scene.fact(must(earlier, "first"), "archive")).toEqual({ reason: "done" });
  });

  it("may be about no block: a new memory in a tainted turn", () => {
    const proposed = new Scene().propose("@create('learned')", { isTainted: true });
    expect(proposed).toMatchObject({
      ...nothing,
      approvals: [{ blocks: [], why: expect.stringContaining("commands"), tokens: 7 }],
    });
  });
});

describe("a command that reads", () => {
  it("changes only references, also of archived blocks", () => {
    const scene = new Scene();
    const [shown, cold] = [scene.result(), scene.result()];
    scene.set(cold, { archive: { reason: "old" } });
    for (const text of [`@expand(${shown}, ${cold})`, `@recall(${shown}, ${cold})`]) {
      const { deltas } = changes.reference(scene.by("model"), [shown, cold]);
      const lookups = [{ of: "blocks", blocks: [shown, cold], level: "original", from: 0 }];
      expect(scene.propose(text)).toMatchObject({ ...nothing, deltas, lookups });
      expect(scene.propose(text, {}, "user")).toMatchObject({ ...nothing, lookups });
    }
  });

  it("leaves the search for words to the executor, and passes ids on", () => {
    const scene = new Scene();
    const block = scene.result();
    const words = { of: "words", words: "token refresh" };
    expect(scene.propose("@recall('token refresh')").lookups).toEqual([words]);
    expect(scene.propose(`@recall('token refresh', #${block})`).lookups).toEqual([
      { of: "blocks", blocks: [block], level: "original", from: 0 },
      words,
    ]);
  });

  it("expands the blocks of a topic, at the level of the command", () => {
    const scene = new Scene();
    const block = scene.result();
    const findByTopic = (words: string) => (words === "auth flow" ? [block] : []);
    expect(scene.propose("@expand('auth flow', trimmed)", { findByTopic }).lookups).toEqual([
      { of: "blocks", blocks: [block], level: "trimmed", from: 0 },
    ]);
    expect(scene.propose("@expand('tea')", { findByTopic }).refused?.code).toBe("AP_TOPIC_UNKNOWN");
  });

  it("gives no withheld and no purged content", () => {
    const scene = new Scene();
    const [withheld, purged, shown] = [scene.result(), scene.result(), scene.result()];
    scene.set(withheld, { withhold: true }, { by: "user" });
    scene.append([{ type: "block-purged", block: purged }]);
    const proposed = scene.propose("@expand(1..9)");
    expect(codes(proposed)).toEqual([
      [withheld, "AP_COMMAND_REFUSED"],
      [purged, "AP_BLOCK_PURGED"],
    ]);
    expect(proposed.lookups).toEqual([{ of: "blocks", blocks: [shown], level: "original", from: 0 }]);
  });

  it("may be diff or manifest, also in a tainted turn and in mode ask", () => {
    const scene = new Scene();
    const over = { isTainted: true, mode: "ask" } as const;
    expect(scene.propose("@diff(7)", over)).toMatchObject({
      ...nothing,
      lookups: [{ of: "diff", since: 7 }],
    });
    expect(scene.propose("@manifest(summary)", over)).toMatchObject({
      ...nothing,
      lookups: [{ of: "manifest", detail: "summary" }],
    });
    expect(scene.propose("@manifest()", { mode: "observe" })).toMatchObject({
      ...nothing,
      refused: { code: "AP_COMMAND_REFUSED" },
    });
  });

  it("restores blocks in place only for the user", () => {
    const scene = new Scene();
    const block = scene.result();
    scene.set(block, { archive: { reason: "old" }, level: "minimal", ttl: { at: turnOf(0), spanTurns: 5 } });
    expect(scene.propose(`@expand(${block})`, { isInPlace: true }).lookups).toHaveLength(1);
    const proposed = scene.propose(`@expand(${block})`, { isInPlace: true }, "user");
    expect(proposed.lookups).toEqual([]);
    scene.take(proposed, "user");
    expect([scene.fact(block, "archive"), scene.fact(block, "level")]).toEqual([null, "original"]);
  });

  it("names a block that cannot come back only once", () => {
    const scene = new Scene();
    const block = scene.result();
    scene.set(block, { archive: { reason: "old" }, level: "minimal" });
    scene.append([{ type: "block-purged", block }]);
    const proposed = scene.propose(`@expand(${block})`, { isInPlace: true }, "user");
    expect(codes(proposed)).toEqual([[block, "AP_BLOCK_PURGED"]]);
  });
});

describe("a memory", () => {
  it("is proposed with its text, topic and the block it replaces", () => {
    const scene = new Scene();
    const block = scene.result();
    expect(scene.propose("@create('learned', topic: 'auth')")).toMatchObject({
      ...nothing,
      memories: [{ text: "learned", topic: "auth", supersedes: null }],
    });
    const replacing = { ...nothing, memories: [{ text: "now", topic: null, supersedes: block }] };
    expect(scene.propose(`@create('now', supersedes: ${block})`)).toMatchObject(replacing);
    expect(scene.propose(`@update(${block}, 'now')`)).toMatchObject(replacing);
  });

  it("that would replace a protected block is not made", () => {
    const scene = new Scene();
    const [earlier, system] = [scene.add(), scene.add({ kind: "system" })];
    scene.add();
    expect(scene.propose(`@update(${earlier}, 'now')`)).toMatchObject({
      memories: [],
      approvals: [{ blocks: [earlier] }],
    });
    expect(scene.propose(`@update(${system}, 'now')`)).toMatchObject({
      memories: [],
      history: { failures: 1 },
    });
    expect(scene.propose("@update(99, 'now')")).toMatchObject({
      memories: [],
      refused: { code: "AP_BLOCKS_UNKNOWN" },
    });
  });

  it("counts against the share of memories, without the one it replaces", () => {
    const scene = new Scene();
    const old = scene.add({ kind: "memory", taint: "model" });
    scene.append([{ type: "tokens-counted", block: old, tokens: { count: 195, exact: true } }]);
    expect(scene.propose("@create('12345')").refused).toBeNull();
    expect(scene.propose("@create('123456')").refused?.message).toMatch(
      /notes would take 201 tokens and may take 200/,
    );
    expect(scene.propose(`@update(${old}, '123456')`).refused).toBeNull();
    scene.set(old, { archive: { reason: "old" } });
    expect(scene.propose("@create('123456')").refused).toBeNull();
  });
});

describe("limits", () => {
  it("refuse the whole command, and change nothing", () => {
    const scene = new Scene();
    const [big, more] = [scene.result(2_500), scene.result(600)];
    const proposed = scene.propose(`@archive(${big}, ${more}, 'old')`);
    expect(proposed).toMatchObject({
      ...nothing,
      refused: { code: "AP_COMMAND_LIMIT" },
      history: { changedTokens: 0 },
    });
    expect(proposed.refused?.message).toMatch(
      /would change 3100 tokens and 3000 are left .*, such as block-1\.\.block-1/,
    );
    expect(scene.propose(`@archive(${big}, 'old')`).history).toMatchObject({
      changedTokens: 2_500,
      commands: 1,
    });
  });

  it("count the present level: an archived block costs nothing", () => {
    const scene = new Scene();
    const block = scene.result(9_000);
    scene.set(block, { archive: { reason: "old" } });
    expect(scene.propose(`@compress(${block}, minimal)`).refused).toBeNull();
  });

  it("hold for all pins together", () => {
    const scene = new Scene();
    const [old, block] = [scene.result(2_400), scene.result(200)];
    scene.set(old, { pin: "top" }, { by: "user" });
    expect(scene.propose(`@pin(${block})`).refused?.message).toMatch(
      /pins would take 2600 tokens and may take 2500/,
    );
    expect(scene.propose(`@pin(${block})`, {}, "user").refused).toBeNull();
  });

  it("damp single blocks and leave the others free", () => {
    const scene = new Scene();
    const [churned, other] = [scene.result(), scene.result()];
    let { history } = free;
    for (const verb of ["pin", "unpin", "pin"])
      history = scene.propose(`@${verb}(${churned})`, { history }).history;
    const proposed = scene.propose(`@pin(${churned}, ${other}, bottom)`, { history });
    expect(codes(proposed)).toEqual([[churned, "AP_COMMAND_LIMIT"]]);
    expect(proposed.deltas).toHaveLength(1);
    expect(codes(scene.propose(`@pin(${churned}, bottom)`, { history }, "user"))).toEqual([]);
  });

  it("end a row of failures: a reminder, then no more commands in the turn", () => {
    const scene = new Scene();
    scene.result();
    let { history } = free;
    const results: unknown[] = [];
    for (let count = 0; count < 21; count += 1) {
      const proposed = scene.propose("@pin(#99)", { history });
      history = proposed.history;
      results.push(proposed.reminder === null ? proposed.refused?.code : "reminder");
    }
    expect(results.filter((each) => each === "reminder")).toHaveLength(1);
    expect(results[2]).toBe("reminder");
    expect(results.slice(-2)).toEqual(["AP_BLOCKS_UNKNOWN", "AP_COMMAND_LIMIT"]);
  });

  it("do not count the user's commands", () => {
    const scene = new Scene();
    const block = scene.result(9_000);
    expect(scene.propose(`@archive(${block}, 'old')`, {}, "user")).toMatchObject({
      refused: null,
      history: noCommands,
    });
    expect(scene.propose("@pin(99)", {}, "user")).toMatchObject({ history: noCommands, reminder: null });
  });
});

describe("position is authority", () => {
  it("no command of the model reaches another view, and the refusal does not tell that it exists", () => {
    const scene = new Scene();
    scene.result();
    const other = scene.fork();
    const foreign = scene.add({ view: other, kind: "tool-result" });
    const never = blockId(9_999);
    const texts = [
      "expand(#)",
      "recall(#)",
      "compress(#)",
      "pin(#)",
      "unpin(#)",
      "focus(#)",
      "archive(#)",
      "update(#, 'x')",
    ];
    for (const text of texts) {
      const [a, b] = [foreign, never].map((id) => scene.propose(`@${text.replace("#", `#${id}`)}`));
      expect(a).toMatchObject({ deltas: [], lookups: [], memories: [], approvals: [], skipped: [] });
      expect(a?.refused?.message.replaceAll(`${foreign}`, "N")).toBe(
        b?.refused?.message.replaceAll(`${never}`, "N"),
      );
    }
    expect(texts.length).toBe(verbs.length - 3);
  });
});
