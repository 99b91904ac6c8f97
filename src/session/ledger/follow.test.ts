import { describe, expect, test } from "vitest";
import { must } from "../../base/index.ts";
import { ingestRequest, type WireRequest } from "../../protocols/index.ts";
import { inOtherWords, newPlace, ownItem, writeItems } from "./draft.ts";
import { bytesOf, isOwn, type Place, pathTo, rootPlace, wholly } from "./place.ts";
import { freshItems, type GivenRules, type Trace, type Traced, traceRequest } from "./trace.ts";

type Block = Readonly<Record<string, unknown>>;
type Message = {
  readonly role: string;
  readonly content: readonly Block[];
  readonly [extra: string]: unknown;
};

const text = (words: string): Block => ({ type: "text", text: words });
const thinks = (words: string, signature = words): Block => ({
  type: "thinking",
  thinking: words,
  signature,
});
const result = (id: string, content: string): Block => ({ type: "tool_result", tool_use_id: id, content });
const user = (...content: readonly Block[]): Message => ({ role: "user", content });
const model = (...content: readonly Block[]): Message => ({ role: "assistant", content });

function read(messages: readonly Message[]): WireRequest {
  return must(ingestRequest(Buffer.from(JSON.stringify({ messages })), null), "it can be read");
}

type Over = Partial<GivenRules> & { readonly before?: Traced | null };

function trace(from: Place, messages: readonly Message[], { before = null, ...over }: Over = {}): Trace {
  const request = read(messages);
  const isOwnLine = (line: string): boolean => /^\[(?:CONTEXT MANIFEST )?k7f3 /.test(line);
  const rules = {
    bytes: request.bytes,
    throughOwn: true,
    throughOther: () => true,
    throughSystem: true,
    leavesOut: false,
    trusts: false,
    isOwnLine,
    model: null,
    ...over,
  };
  return traceRequest(from, request, { before, rules });
}

/** Sends what is not there yet below a place; the last one comes back. */
function grow(from: Place, messages: readonly Message[], trusts = true): Place {
  const traced = trace(from, messages, { trusts });
  const { place } = traced.followed;
  return writeItems(place, freshItems(traced), null).places.at(-1) ?? place;
}

function growOwn(from: Place, words: string): Place {
  const item = ownItem(words, from.wrapping, false);
  return must(writeItems(from, [item], null).places.at(-1), "it was sent");
}

/** The words on the way to where a request could be followed, and how each of its units was found. */
function found(root: Place, messages: readonly Message[], over: Partial<GivenRules> = {}) {
  const { followed } = trace(root, messages, over);
  return { words: wordsOn(followed.place), as: followed.steps.map(({ as }) => as).join(" ") };
}

function wordsOn(place: Place): string {
  return pathTo(place).map(wordsOf).join(" ");
}

function wordsOf(place: Place): string {
  const block = JSON.parse(Buffer.from(bytesOf(place)).toString()) as Block;
  const words = String(block["text"] ?? block["thinking"] ?? block["content"]);
  return isOwn(place) ? `(${words})` : words;
}

describe("a path is followed", () => {
  const root = rootPlace("");
  grow(root, [user(text("a")), model(thinks("t"), text("b")), user(text("c"), text("d"))]);

  test("to its end, and as far as it says the same", () => {
    const whole = [user(text("a")), model(thinks("t"), text("b")), user(text("c"), text("d"))];
    expect(found(root, whole)).toEqual({ words: "a t b c d", as: "copy copy copy copy copy" });
    expect(found(root, [...whole, user(text("e"))]).words).toBe("a t b c d");
    expect(found(root, whole.slice(0, 2)).words).toBe("a t b");
    expect(found(root, [user(text("a")), model(thinks("t"), text("x")), user(text("c"))]).words).toBe("a t");
    expect(found(root, [user(text("x"))])).toEqual({ words: "", as: "" });
  });

  test("not in another role, nor behind another field of a message", () => {
    expect(found(root, [model(text("a"))]).words).toBe("");
    expect(found(root, [{ ...user(text("a")), note: 1 }]).words).toBe("");
  });

  test("past reasoning that the client has dropped or emptied", () => {
    expect(found(root, [user(text("a")), model(text("b"))])).toEqual({ words: "a t b", as: "copy copy" });
    const emptied = [user(text("a")), model(thinks("", "t"), text("b"))];
    expect(found(root, emptied)).toEqual({ words: "a t b", as: "copy copy copy" });
  });

  test("not past reasoning that the client sends in other words", () => {
    const edited = [user(text("a")), model(thinks("other", "t"), text("b"))];
    expect(found(root, edited).words).toBe("a");
    expect(found(root, edited, { leavesOut: true })).toEqual({ words: "a", as: "copy left-out" });
  });

  test("past reasoning from elsewhere only where it is left out", () => {
    const foreign = [user(text("a")), model(thinks("f"), text("b")), user(text("c"))];
    expect(found(root, foreign).words).toBe("a");
    const left = found(root, foreign, { leavesOut: true });
    expect(left).toEqual({ words: "a t b c", as: "copy left-out copy copy" });
  });

  test("not through reasoning that another model let pass: it is bound to other words", () => {
    const other = rootPlace("");
    const messages = [user(text("a")), model(thinks("t"), text("b"))];
    grow(other, messages, false);
    expect(found(other, messages).words).toBe("a t b");
    expect(found(other, messages, { leavesOut: true })).toEqual({ words: "a", as: "copy left-out" });
    const dropped = [user(text("a")), model(text("b"))];
    expect(found(other, dropped, { leavesOut: true }).words).toBe("a");
  });

  test("where texts were joined into one", () => {
    const start = [user(text("a")), model(thinks("t"), text("b"))];
    expect(found(root, [...start, user(text("cd"))])).toEqual({
      words: "a t b c d",
      as: "copy copy copy merged",
    });
    expect(found(root, [...start, user(text("c\nd"))]).words).toBe("a t b c d");
    expect(found(root, [...start, user(text("c d"))]).words).toBe("a t b");
    expect(found(root, [...start, user(text("c\nd\ne"))]).words).toBe("a t b");
  });

  test("where texts were joined behind reasoning that was left out", () => {
    const left = rootPlace("");
    grow(left, [user(text("a")), model(text("b"), text("c")), user(text("d"))]);
    const messages = [user(text("a")), model(thinks("t"), text("b\nc")), user(text("d"))];
    expect(found(left, messages)).toEqual({ words: "a b c d", as: "copy left-out merged copy" });
  });

  test("where texts come apart that were joined when they were sent, with reasoning in between", () => {
    const start = user(text("a"));
    const root = rootPlace("");
    grow(root, [start, model(text("b\n\nc")), user(text("d"))]);
    const parts = [start, model(text("b"), thinks("t"), text("c")), user(text("d"))];
    expect(found(root, parts, { leavesOut: true })).toEqual({
      words: "a b\n\nc d",
      as: "copy merged left-out merged copy",
    });
    const others = [start, model(text("b"), text("e")), user(text("d"))];
    expect(found(root, others)).toEqual({ words: "a", as: "copy" });
  });

  test("where a text was joined with a line of ours that the model had repeated by itself", () => {
    const start = user(text("a"));
    const line = "[k7f3 turn 1]";
    const root = rootPlace("");
    grow(root, [start, model(text("b"), text(line), thinks("t"), text("c"))]);
    const joined = [start, model(text(`b\n${line}`), thinks("t"), text("c"))];
    expect(found(root, joined)).toEqual({ words: `a b ${line} t c`, as: "copy merged copy copy" });
  });

  test("where texts were joined that had lost lines of ours, if the model said them", () => {
    const said = rootPlace("");
    const own = text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\n");
    grow(said, [user(text("a"), own), model(own, text("c"))]);
    const start = user(text("a"), own);
    expect(found(said, [start, model(text("b\nc"))]).as).toBe("copy copy merged");
    expect(found(said, [start, model(text("b\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\nc"))]).as).toBe(
      "copy copy merged",
    );
    expect(found(said, [start, model(text("b\nd"))]).as).toBe("copy copy");
    expect(found(said, [user(text("a\nb"))]).as).toBe("");
  });
});

test("other words than the client's are passed only where they may lie on the way", () => {
  const root = rootPlace("");
  const traced = trace(root, [user(text("a"), text("b"))]);
  const [first, second] = freshItems(traced);
  const [said, other] = [must(first, "it is new"), must(second, "it is new")];
  const words = { bytes: Buffer.from('{"type":"text","text":"short"}'), showing: wholly };
  writeItems(root, [said, inOtherWords(other, words)], null);
  const messages = [user(text("a"), text("b"))];
  expect(found(root, messages).words).toBe("a short");
  expect(found(root, messages, { throughOther: () => false }).words).toBe("a");
});

test("reasoning that is sent elsewhere than it was heard is not bound to where it is", () => {
  const root = rootPlace("");
  const heardAt = grow(root, [user(text("a"))]);
  const sentAt = grow(root, [user(text("b"))]);
  const [item] = freshItems(trace(root, [model(thinks("t"))], { trusts: true }));
  const heard = newPlace(heardAt, must(item, "it is new"));
  const send = (from: Place) => writeItems(from, [{ ...must(item, "it is new"), place: heard }], null).places;
  expect(send(sentAt).map(({ isFromElsewhere }) => isFromElsewhere)).toEqual([true]);
  expect(send(heardAt).map(({ isFromElsewhere }) => isFromElsewhere)).toEqual([false]);
});

describe("what is ours", () => {
  const root = rootPlace("");
  const first = grow(root, [user(text("a"))]);
  grow(growOwn(first, "[k7f3 turn 1]"), [model(text("b"))]);

  test("is passed where it may lie on the way, and only there", () => {
    const messages = [user(text("a")), model(text("b"))];
    expect(found(root, messages).words).toBe("a ([k7f3 turn 1]) b");
    expect(found(root, messages, { throughOwn: false }).words).toBe("a");
  });

  test("is never taken for what the client says", () => {
    expect(found(root, [user(text("a"), text("[k7f3 turn 1]"))]).words).toBe("a");
  });
});

describe("where a path forks", () => {
  test("the way that leads farthest is taken", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    const own = growOwn(start, "[k7f3 one]");
    grow(own, [model(text("b")), user(text("c"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(text("b")), user(text("d"))]);
    const path = (last: string) => found(root, [user(text("a")), model(text("b")), user(text(last))]).words;
    expect(path("c")).toBe("a ([k7f3 one]) b c");
    expect(path("d")).toBe("a ([k7f3 two]) b d");
  });

  test("what is the same to the byte is taken before what is tolerated, if both lead as far", () => {
    const root = rootPlace("");
    const call = (input: object): Block => ({ type: "tool_use", id: "c", name: "look", input });
    grow(root, [user(text("a")), model(call({ n: 1, m: 2 }), text("old"))]);
    const edited = grow(root, [user(text("a")), model(call({ n: 1 }), text("new"))]);
    expect(wordsOf(edited)).toBe("new");
    const back = [user(text("a")), model(call({ n: 1, m: 2 }))];
    const place = trace(root, back).followed.place;
    expect(Buffer.from(bytesOf(place)).toString()).toContain('"m":2');
  });

  test("how it is written does not decide: a client may change the form of what it said before", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    const call = { type: "tool_use", id: "c", name: "look", input: {} };
    const turned = { input: {}, name: "look", id: "c", type: "tool_use" };
    grow(growOwn(start, "[k7f3 one]"), [model(call), user(result("c", "old"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(turned), user(result("c", "new"))]);
    const path = (last: string) => {
      const said = pathTo(
        trace(root, [user(text("a")), model(turned), user(result("c", last))]).followed.place,
      );
      return said.filter(isOwn).map(wordsOf);
    };
    expect(path("old")).toEqual(["([k7f3 one])"]);
    expect(path("new")).toEqual(["([k7f3 two])"]);
  });

  test("nor does the form of a result, whichever of them came first", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    const listed = { ...result("c", "r"), content: [text("r")] };
    grow(growOwn(start, "[k7f3 one]"), [user(result("c", "r")), model(text("old"))]);
    grow(growOwn(start, "[k7f3 two]"), [user(listed), model(text("new"))]);
    const path = (form: Block, last: string) => {
      const { place } = trace(root, [user(text("a")), user(form), model(text(last))]).followed;
      return pathTo(place).filter(isOwn).map(wordsOf);
    };
    expect(path(result("c", "r"), "new")).toEqual(["([k7f3 two])"]);
    expect(path(listed, "old")).toEqual(["([k7f3 one])"]);
    expect(path(result("c", "r"), "neither")).toEqual(["([k7f3 two])"]);
  });

  test("what this model was sent is taken among equals, because it is cached for it", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    for (const [words, name] of [
      ["[k7f3 one]", "opus"],
      ["[k7f3 two]", "sonnet"],
    ] as const) {
      grow(growOwn(start, words), [model(text("b"))]).model = name;
    }
    const path = (name: string) => found(root, [user(text("a")), model(text("b"))], { model: name }).words;
    expect(path("opus")).toBe("a ([k7f3 one]) b");
    expect(path("sonnet")).toBe("a ([k7f3 two]) b");
    expect(path("haiku")).toBe("a ([k7f3 two]) b");
  });

  test("of two that lead as far, the one that the request before went along is taken", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    const before = read([user(text("a")), model(text("b")), user(text("c"))]);
    const last = grow(growOwn(start, "[k7f3 one]"), [model(text("b")), user(text("c"))]);
    grow(growOwn(start, "[k7f3 two]"), [model(text("b")), user(text("d"))]);
    const places = pathTo(last).filter((place) => !isOwn(place));
    // Both are known up to where the client has edited, and none of it is written as before.
    const edited = [user(text("a ")), model(text("b ")), user(text("e"))];
    const words = (over: Over) => wordsOn(trace(root, edited, over).followed.place);
    expect(words({ before: { request: before, places } })).toBe("a ([k7f3 one]) b");
    expect(words({})).toBe("a ([k7f3 two]) b");
  });

  test("a copy on one path does not hide its parts on another that leads farther", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    grow(growOwn(start, "[k7f3 one]"), [model(text("b"), text("c")), user(text("d")), model(text("e"))]);
    grow(start, [model(text("b\n\nc")), user(text("d"))]);
    const joined = [user(text("a")), model(text("b\n\nc")), user(text("d")), model(text("e"))];
    expect(found(root, joined)).toEqual({ words: "a ([k7f3 one]) b c d e", as: "copy merged copy copy" });
  });

  test("the newest is taken among equals", () => {
    const root = rootPlace("");
    const start = grow(root, [user(text("a"))]);
    for (const n of ["one", "two"]) grow(growOwn(start, `[k7f3 ${n}]`), [model(text("b"))]);
    expect(found(root, [user(text("a")), model(text("b"))]).words).toBe("a ([k7f3 two]) b");
  });

  test("another result of the same call is another way", () => {
    const root = rootPlace("");
    grow(root, [user(result("c1", "old"))]);
    expect(found(root, [user(result("c1", "new"))]).words).toBe("");
    expect(found(root, [user(result("c2", "old"))]).words).toBe("");
    expect(found(root, [user(result("c1", " old\n"))]).words).toBe("old");
  });
});

test("a form that was recognised once is known by its hash from then on", () => {
  const root = rootPlace("");
  const place = grow(root, [user(result("c1", "old"))]);
  expect(place.forms.length).toBe(0);
  found(root, [user(result("c1", " old"))]);
  expect(place.forms.length).toBe(1);
  found(root, [user(result("c1", "new"))]);
  expect(place.forms.length).toBe(1);
  for (let n = 0; n < 20; n += 1) found(root, [user(result("c1", `old${" ".repeat(n)}`))]);
  expect(place.forms.length).toBeLessThanOrEqual(8);
});

test("reasoning that comes again and again, sent and left out at every place, is not walked in every way", () => {
  const root = rootPlace("");
  const said = (count: number, end: string) => [
    user(text("a")),
    model(...Array.from({ length: count }, () => thinks("r")), text("b")),
    user(text(end)),
  ];
  for (let count = 40; count >= 0; count -= 1) grow(root, said(count, "c"));
  const { followed } = trace(root, said(40, "d"));
  expect(followed.steps).toHaveLength(42);
});
