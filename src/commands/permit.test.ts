import { describe, expect, it } from "vitest";
import { TestSession, type Wish } from "../../test/support/engine.ts";
import { type BlockId, must, unwrap } from "../base/index.ts";
import { now, zoneOf } from "../engine/moment/index.ts";
import { type Verb, verbs, zones } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import type { CommandPermission } from "./permission.ts";
import { latestUserMessage, type Permit, type PermitQuery, permitFor, permitRules } from "./permit.ts";

/** A command of every verb; the block number does not matter here. */
const commandTexts: Readonly<Record<Verb, string>> = {
  expand: "@expand(1)",
  recall: "@recall(1)",
  compress: "@compress(1, minimal)",
  pin: "@pin(1)",
  unpin: "@unpin(1)",
  focus: "@focus(1)",
  archive: "@archive(1, 'old')",
  update: "@update(1, 'new')",
  create: "@create('new', supersedes: 1)",
  diff: "@diff()",
  manifest: "@manifest()",
};

function query(text: string, over: Partial<PermitQuery> = {}): PermitQuery {
  const command = unwrap(parseCommand(text));
  return {
    actor: "model",
    command,
    mode: "auto",
    isTainted: false,
    permissions: [],
    latestUser: null,
    ...over,
  };
}

/** The permit of every verb on a block, as one word. */
function permitWords(session: TestSession, block: BlockId | null, over: Partial<PermitQuery> = {}) {
  const latestUser = latestUserMessage(now(session.state), session.view());
  const blockView = block === null ? null : session.place(block);
  const word = (permit: Permit): string => (permit === "free" ? "free" : (Object.keys(permit)[0] ?? ""));
  const list = verbs.map((verb) => [
    verb,
    word(permitFor(query(commandTexts[verb], { latestUser, ...over }), blockView)),
  ]);
  return Object.fromEntries(list) as Record<Verb, string>;
}

const verbsWith = (table: Record<Verb, string>, word: string): readonly Verb[] =>
  verbs.filter((verb) => table[verb] === word);

type Situation = {
  readonly what: string;
  readonly wish?: Wish;
  readonly make?: (session: TestSession, block: BlockId) => void;
  readonly never?: readonly Verb[];
  readonly ask?: readonly Verb[];
};

const loweringVerbs: readonly Verb[] = ["compress", "archive", "update", "create"];
const writeVerbs: readonly Verb[] = ["compress", "pin", "unpin", "focus", "archive", "update", "create"];
const inOrder = (list: readonly Verb[]): readonly Verb[] => verbs.filter((verb) => list.includes(verb));
const result = { kind: "tool-result", taint: "untrusted" } as const;

const situations: readonly Situation[] = [
  { what: "a tool result", wish: result },
  { what: "what the model said", wish: { kind: "assistant", taint: "model" } },
  { what: "a note of the model", wish: { kind: "memory", taint: "model" } },
  { what: "the system prompt", wish: { kind: "system" }, never: writeVerbs },
  {
    what: "what the user pinned",
    wish: result,
    make: (session, block) => session.set(block, { pin: "top" }, { by: "user" }),
    never: [...loweringVerbs, "pin", "unpin"],
  },
  {
    what: "what the model pinned",
    wish: result,
    make: (session, block) => session.set(block, { pin: "top" }, { by: "model" }),
  },
  {
    what: "what the user unpinned",
    wish: result,
    make: (session, block) => session.set(block, { pin: "none" }, { by: "user" }),
  },
  {
    what: "what the user has selected",
    wish: result,
    make: (session, block) => session.set(block, { selection: true }, { by: "user" }),
    never: [...loweringVerbs, "unpin"],
  },
  {
    what: "what the user withheld",
    wish: result,
    make: (session, block) => session.set(block, { withhold: true }, { by: "user" }),
    never: [...writeVerbs, "expand", "recall"],
  },
  { what: "the latest message of the user", never: loweringVerbs },
  { what: "an earlier message of the user", make: (session) => session.add(), ask: loweringVerbs },
  { what: "a note of the user", wish: { kind: "memory" }, ask: loweringVerbs },
  { what: "what a client added to a message", wish: { kind: "ambient" } },
  {
    what: "what belongs to the project",
    wish: result,
    make: (session, block) => {
      session.append([{ type: "scope-set", block, from: "session", to: "project" }]);
    },
    ask: writeVerbs,
  },
];

describe("permits", () => {
  it.each(situations)("of the model for $what", ({ wish, make, never = [], ask = [] }) => {
    const session = new TestSession();
    const block = session.add(wish);
    make?.(session, block);
    const table = permitWords(session, block);
    expect(verbsWith(table, "never")).toEqual(inOrder(never));
    expect(verbsWith(table, "ask")).toEqual(inOrder(ask));
  });

  it.each(situations)("the user may do everything possible to $what, in any mode", (situation) => {
    const { wish, make } = situation;
    const session = new TestSession();
    const block = session.add(wish);
    make?.(session, block);
    const user = { actor: "user", mode: "observe", isTainted: true } as const;
    // A client sends its system prompt with every request: it can be pointed at, but not be lowered.
    const isFixed = (verb: Verb) => wish?.kind === "system" && ["compress", "archive"].includes(verb);
    const free = verbs.filter((verb) => !isFixed(verb));
    expect(verbsWith(permitWords(session, block, user), "free")).toEqual(free);
  });

  it("each rule decides some case, and gives its reason", () => {
    const permits = situations.flatMap(({ wish, make }) => {
      const session = new TestSession();
      const block = session.add(wish);
      make?.(session, block);
      const latestUser = latestUserMessage(now(session.state), session.view());
      return Object.values(commandTexts).map((text) =>
        permitFor(query(text, { latestUser }), session.place(block)),
      );
    });
    const reasons = new Set(permits.flatMap((permit) => (permit === "free" ? [] : Object.values(permit))));
    expect(reasons).toEqual(new Set(permitRules.map(({ why }) => why)));
  });

  it("text of the user may be trimmed freely", () => {
    const session = new TestSession();
    const [earlier] = [session.add(), session.add()];
    const blockView = session.place(must(earlier, "first"));
    expect(permitFor(query("@compress(1, trimmed)"), blockView)).toBe("free");
    expect(permitFor(query("@compress(1, summarized)"), blockView)).toEqual({
      ask: "the user wrote it, and only trimmed is free",
    });
  });

  it("a pair is judged as one, but a memory replaces only one block", () => {
    const session = new TestSession();
    const [call, reply] = session.addPair({ kind: "tool-call", taint: "model" }, result);
    session.set(must(reply, "second"), { pin: "top" }, { by: "user" });
    const table = permitWords(session, must(call, "first"));
    expect(verbsWith(table, "never")).toEqual(["compress", "pin", "unpin", "archive"]);
    expect(table.update).toBe("free");
  });
});

describe("modes, taint and permissions", () => {
  const session = new TestSession();
  const block = session.add(result);
  const system = session.add({ kind: "system" });
  const permission = (over: Partial<CommandPermission>): CommandPermission => ({
    verb: "all",
    actor: "model",
    answer: "allow",
    zone: "all",
    lasts: "session",
    ...over,
  });

  it.each([block, null])("observe allows nothing, ask asks before writing, auto is free (%s)", (subject) => {
    expect(verbsWith(permitWords(session, subject, { mode: "observe" }), "never")).toEqual(verbs);
    expect(verbsWith(permitWords(session, subject, { mode: "ask" }), "ask")).toEqual(inOrder(writeVerbs));
    expect(verbsWith(permitWords(session, subject, { mode: "auto" }), "free")).toEqual(verbs);
  });

  it("a tainted turn asks before writing, and reading stays free", () => {
    for (const subject of [block, null]) {
      const table = permitWords(session, subject, { isTainted: true });
      expect(verbsWith(table, "ask")).toEqual(inOrder(writeVerbs));
      expect(verbsWith(table, "free")).toEqual(["expand", "recall", "diff", "manifest"]);
    }
  });

  it("a permission lifts an ask, for its verb and actor only", () => {
    const withPin = permitWords(session, block, { mode: "ask", permissions: [permission({ verb: "pin" })] });
    expect(verbsWith(withPin, "ask")).toEqual(inOrder(writeVerbs).filter((verb) => verb !== "pin"));
    const others = permitWords(session, block, {
      mode: "ask",
      permissions: [permission({ actor: "client" })],
    });
    expect(verbsWith(others, "ask")).toEqual(inOrder(writeVerbs));
  });

  it("an ask names the mode or the rule that asks", () => {
    const blockView = session.place(block);
    const permissions = [permission({ answer: "ask" })];
    const permitWith = (over: Partial<PermitQuery>) =>
      permitFor(query(commandTexts.pin, { latestUser: null, ...over }), blockView);
    expect(permitWith({ mode: "ask" })).toEqual({ ask: "in mode ask, changes wait for the user" });
    expect(permitWith({ permissions })).toEqual({ ask: "a rule of the user's asks about it" });
    expect(permitWith({ mode: "ask", permissions })).toEqual({ ask: "a rule of the user's asks about it" });
  });

  it("a permission about a verb counts before one about all", () => {
    const permissions = [permission({ answer: "deny" }), permission({ verb: "pin" })];
    const table = permitWords(session, block, { permissions });
    expect(verbsWith(table, "free")).toEqual(["pin"]);
    expect(verbsWith(table, "never")).toHaveLength(verbs.length - 1);
    const withAsk = permitWords(session, block, {
      permissions: [...permissions, permission({ answer: "ask" })],
    });
    expect(verbsWith(withAsk, "ask")).toEqual(inOrder(writeVerbs).filter((verb) => verb !== "pin"));
  });

  it("a permission for a zone counts only for blocks in it", () => {
    const own = zoneOf(session.place(block));
    const free = (zone: CommandPermission["zone"], subject: typeof block | null) =>
      verbsWith(permitWords(session, subject, { mode: "ask", permissions: [permission({ zone })] }), "free");
    expect(free(own, block)).toEqual(verbs);
    expect(free("all", null)).toEqual(verbs);
    const readVerbs = ["expand", "recall", "diff", "manifest"];
    for (const zone of zones.filter((each) => each !== own)) expect(free(zone, block)).toEqual(readVerbs);
    expect(free(own, null)).toEqual(readVerbs);
  });

  it("no permission lifts a prohibition", () => {
    for (const lasts of ["once", "turn", "session", "always"] as const) {
      const permissions = [permission({ lasts })];
      expect(verbsWith(permitWords(session, system, { permissions }), "never")).toEqual(inOrder(writeVerbs));
      expect(verbsWith(permitWords(session, block, { permissions, mode: "observe" }), "never")).toEqual(
        verbs,
      );
    }
  });

  it("in a tainted turn only a permission for the command or the turn counts", () => {
    const free = (lasts: CommandPermission["lasts"]): readonly Verb[] =>
      verbsWith(
        permitWords(session, block, { isTainted: true, permissions: [permission({ lasts })] }),
        "free",
      );
    expect(free("once")).toEqual(verbs);
    expect(free("turn")).toEqual(verbs);
    expect(free("session")).toEqual(["expand", "recall", "diff", "manifest"]);
    expect(free("always")).toEqual(["expand", "recall", "diff", "manifest"]);
  });
});

describe("the latest message of the user", () => {
  it("is the last one in the view, even with other blocks behind it", () => {
    const session = new TestSession();
    const latest = () => latestUserMessage(now(session.state), session.view());
    expect(latest()).toBeNull();
    session.add();
    const last = session.add();
    session.add(result);
    expect(latest()).toBe(session.place(last).block.message);
  });
});
