import { describe, expect, it } from "vitest";
import { TestSession, type Wish } from "../../test/support/engine.ts";
import { type BlockId, must, unwrap } from "../base/index.ts";
import { now, zoneOf } from "../engine/index.ts";
import { type Verb, verbs, zones } from "./command.ts";
import { parseCommand } from "./grammar.ts";
import type { Permission } from "./permission.ts";
import { type Asked, latestUserMessage, type Permit, permitFor, permitTable } from "./permit.ts";

/** Every verb, said of some block; the number does not matter here. */
const said: Readonly<Record<Verb, string>> = {
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

function asked(text: string, over: Partial<Asked> = {}): Asked {
  const command = unwrap(parseCommand(text));
  return {
    actor: "model",
    command,
    mode: "auto",
    tainted: false,
    permissions: [],
    latestUser: null,
    ...over,
  };
}

/** What the verbs come to on a block: a word each. */
function answers(session: TestSession, block: BlockId | null, over: Partial<Asked> = {}) {
  const latestUser = latestUserMessage(now(session.state), session.view());
  const place = block === null ? null : session.place(block);
  const word = (permit: Permit): string => (permit === "free" ? "free" : (Object.keys(permit)[0] ?? ""));
  const list = verbs.map((verb) => [
    verb,
    word(permitFor(asked(said[verb], { latestUser, ...over }), place)),
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

const lowering: readonly Verb[] = ["compress", "archive", "update", "create"];
const writing: readonly Verb[] = ["compress", "pin", "unpin", "focus", "archive", "update", "create"];
const inOrder = (list: readonly Verb[]): readonly Verb[] => verbs.filter((verb) => list.includes(verb));
const result = { kind: "tool-result", taint: "untrusted" } as const;

const situations: readonly Situation[] = [
  { what: "a tool result", wish: result },
  { what: "what the model said", wish: { kind: "assistant", taint: "model" } },
  { what: "a note of the model", wish: { kind: "memory", taint: "model" } },
  { what: "the system prompt", wish: { kind: "system" }, never: writing },
  {
    what: "what the user pinned",
    wish: result,
    make: (session, block) => session.set(block, { pin: "top" }, { by: "user" }),
    never: [...lowering, "pin", "unpin"],
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
    never: [...lowering, "unpin"],
  },
  {
    what: "what the user withheld",
    wish: result,
    make: (session, block) => session.set(block, { withhold: true }, { by: "user" }),
    never: [...writing, "expand", "recall"],
  },
  { what: "the latest message of the user", never: lowering },
  { what: "an earlier message of the user", make: (session) => session.add(), ask: lowering },
  { what: "a note of the user", wish: { kind: "memory" }, ask: lowering },
  { what: "what a client added to a message", wish: { kind: "ambient" } },
  {
    what: "what belongs to the project",
    wish: result,
    make: (session, block) => {
      session.append([{ type: "scope-set", block, from: "session", to: "project" }]);
    },
    ask: writing,
  },
];

describe("who may what", () => {
  it.each(situations)("the model and $what", ({ wish, make, never = [], ask = [] }) => {
    const session = new TestSession();
    const block = session.add(wish);
    make?.(session, block);
    const table = answers(session, block);
    expect(verbsWith(table, "never")).toEqual(inOrder(never));
    expect(verbsWith(table, "ask")).toEqual(inOrder(ask));
  });

  it.each(situations)("the user may do everything that can be done to $what, in any mode", (situation) => {
    const { wish, make } = situation;
    const session = new TestSession();
    const block = session.add(wish);
    make?.(session, block);
    const user = { actor: "user", mode: "observe", tainted: true } as const;
    // What a client sends in front of every request can be pointed at, and never shown otherwise.
    const isFixed = (verb: Verb) => wish?.kind === "system" && ["compress", "archive"].includes(verb);
    const free = verbs.filter((verb) => !isFixed(verb));
    expect(verbsWith(answers(session, block, user), "free")).toEqual(free);
  });

  it("each row of the table decides something, and says why", () => {
    const whys = situations.flatMap(({ wish, make }) => {
      const session = new TestSession();
      const block = session.add(wish);
      make?.(session, block);
      const latestUser = latestUserMessage(now(session.state), session.view());
      return Object.values(said).map((text) => permitFor(asked(text, { latestUser }), session.place(block)));
    });
    const given = new Set(whys.flatMap((permit) => (permit === "free" ? [] : Object.values(permit))));
    expect(given).toEqual(new Set(permitTable.map(({ why }) => why)));
  });

  it("the user's words may be trimmed freely", () => {
    const session = new TestSession();
    const [earlier] = [session.add(), session.add()];
    const place = session.place(must(earlier, "first"));
    expect(permitFor(asked("@compress(1, trimmed)"), place)).toBe("free");
    expect(permitFor(asked("@compress(1, summarized)"), place)).toEqual({
      ask: "the user wrote it, and only trimmed is free",
    });
  });

  it("what changes together is judged together, but a note replaces one block", () => {
    const session = new TestSession();
    const [call, reply] = session.addPair({ kind: "tool-call", taint: "model" }, result);
    session.set(must(reply, "second"), { pin: "top" }, { by: "user" });
    const table = answers(session, must(call, "first"));
    expect(verbsWith(table, "never")).toEqual(["compress", "pin", "unpin", "archive"]);
    expect(table.update).toBe("free");
  });
});

describe("modes, taint and permissions", () => {
  const session = new TestSession();
  const block = session.add(result);
  const system = session.add({ kind: "system" });
  const permission = (over: Partial<Permission>): Permission => ({
    verb: "all",
    actor: "model",
    answer: "allow",
    zone: "all",
    lasts: "session",
    ...over,
  });

  it.each([block, null])("observe allows nothing, ask asks before writing, auto is free (%s)", (subject) => {
    expect(verbsWith(answers(session, subject, { mode: "observe" }), "never")).toEqual(verbs);
    expect(verbsWith(answers(session, subject, { mode: "ask" }), "ask")).toEqual(inOrder(writing));
    expect(verbsWith(answers(session, subject, { mode: "auto" }), "free")).toEqual(verbs);
  });

  it("a tainted turn asks before writing, and reading stays free", () => {
    for (const subject of [block, null]) {
      const table = answers(session, subject, { tainted: true });
      expect(verbsWith(table, "ask")).toEqual(inOrder(writing));
      expect(verbsWith(table, "free")).toEqual(["expand", "recall", "diff", "manifest"]);
    }
  });

  it("a permission lifts what would be asked, for its verb and actor only", () => {
    const pinning = answers(session, block, { mode: "ask", permissions: [permission({ verb: "pin" })] });
    expect(verbsWith(pinning, "ask")).toEqual(inOrder(writing).filter((verb) => verb !== "pin"));
    const others = answers(session, block, { mode: "ask", permissions: [permission({ actor: "client" })] });
    expect(verbsWith(others, "ask")).toEqual(inOrder(writing));
  });

  it("says whether the mode or a rule asks", () => {
    const place = session.place(block);
    const permissions = [permission({ answer: "ask" })];
    const why = (over: Partial<Asked>) => permitFor(asked(said.pin, { latestUser: null, ...over }), place);
    expect(why({ mode: "ask" })).toEqual({ ask: "in mode ask, changes wait for the user" });
    expect(why({ permissions })).toEqual({ ask: "a rule of the user's asks about it" });
    expect(why({ mode: "ask", permissions })).toEqual({ ask: "a rule of the user's asks about it" });
  });

  it("what was said about a verb counts before what was said about all", () => {
    const permissions = [permission({ answer: "deny" }), permission({ verb: "pin" })];
    const table = answers(session, block, { permissions });
    expect(verbsWith(table, "free")).toEqual(["pin"]);
    expect(verbsWith(table, "never")).toHaveLength(verbs.length - 1);
    const asking = answers(session, block, { permissions: [...permissions, permission({ answer: "ask" })] });
    expect(verbsWith(asking, "ask")).toEqual(inOrder(writing).filter((verb) => verb !== "pin"));
  });

  it("a permission for a zone counts for blocks that belong there", () => {
    const own = zoneOf(session.place(block));
    const free = (zone: Permission["zone"], subject: typeof block | null) =>
      verbsWith(answers(session, subject, { mode: "ask", permissions: [permission({ zone })] }), "free");
    expect(free(own, block)).toEqual(verbs);
    expect(free("all", null)).toEqual(verbs);
    const reading = ["expand", "recall", "diff", "manifest"];
    for (const zone of zones.filter((each) => each !== own)) expect(free(zone, block)).toEqual(reading);
    expect(free(own, null)).toEqual(reading);
  });

  it("no permission lifts what is never allowed", () => {
    for (const lasts of ["once", "turn", "session", "always"] as const) {
      const permissions = [permission({ lasts })];
      expect(verbsWith(answers(session, system, { permissions }), "never")).toEqual(inOrder(writing));
      expect(verbsWith(answers(session, block, { permissions, mode: "observe" }), "never")).toEqual(verbs);
    }
  });

  it("in a tainted turn only a word given for it counts", () => {
    const free = (lasts: Permission["lasts"]): readonly Verb[] =>
      verbsWith(answers(session, block, { tainted: true, permissions: [permission({ lasts })] }), "free");
    expect(free("once")).toEqual(verbs);
    expect(free("turn")).toEqual(verbs);
    expect(free("session")).toEqual(["expand", "recall", "diff", "manifest"]);
    expect(free("always")).toEqual(["expand", "recall", "diff", "manifest"]);
  });
});

describe("the latest message of the user", () => {
  it("is the last one in the view, whatever came behind it", () => {
    const session = new TestSession();
    const latest = () => latestUserMessage(now(session.state), session.view());
    expect(latest()).toBeNull();
    session.add();
    const last = session.add();
    session.add(result);
    expect(latest()).toBe(session.place(last).block.message);
  });
});
