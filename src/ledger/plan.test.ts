import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newStream, readBody, turnOf } from "../../test/support/ledger-kit.ts";
import { shownFacts } from "../../test/support/render-facts.ts";
import type { LevelWish } from "../exchange/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { addAnswer } from "./add-answer.ts";
import { type AllWishes, noWishes, updateWishes } from "./all-wishes.ts";
import type { LedgerStream } from "./ledger-stream.ts";
import { childrenOf } from "./ledger-tree.ts";
import { nodeBytes } from "./node.ts";
import { type PlanResult, plan } from "./plan.ts";
import type { LedgerRequest, Plan } from "./plan-request.ts";
import { planRound } from "./plan-round.ts";

type Block = Readonly<Record<string, unknown>>;
type Message = { readonly role: string; readonly content: readonly Block[] };

const tools = [{ name: "look", input_schema: { type: "object" } }];
const lines = (from: number) =>
  Array.from({ length: 30 }, (_, n) => `line ${from + n} of the file`).join("\n");
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const result = (id: string, content: string): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const answerOf = (n: number, isOwn: boolean): readonly Block[] => [
  { type: "thinking", thinking: `thought ${n}`, signature: `sign-${n}` },
  isOwn
    ? { type: "tool_use", id: `own-${n}`, name: "aperture_read", input: { verb: "manifest" } }
    : { type: "tool_use", id: `c${n}`, name: "look", input: { n } },
];

/** Everything a stream says about itself, the identity of its memory left out. */
function describeStream(stream: LedgerStream): unknown {
  const { tree, heads, current, numbers, unlogged, notes } = stream;
  const nodes = [...tree.nodes.entries()].map(([, node]) => {
    const { sent, original, answerBytes: _, ...rest } = node;
    const bytes = node.parent === null ? "" : Buffer.from(nodeBytes(node)).toString();
    const children = childrenOf(tree, node).map(({ index }) => index);
    return { ...rest, id: sent?.id, bytes, children, original: original && Buffer.from(original).toString() };
  });
  const { turn, turnMs, lastLeaf, anchor, promptCount, isNew } = stream;
  return {
    nodes,
    heads: heads.map(({ root, isReported, deferred }) => [root, isReported, [...deferred.keys()]]),
    current: current === null ? null : [current.root, current.style, [...current.nodes]],
    numbers: [numbers.session, numbers.ranges, [...numbers.known]],
    seen: stream.seen.matches(lines(0)),
    rest: [turn, turnMs, lastLeaf, anchor, promptCount, isNew, unlogged, notes],
  };
}

function describePlan({ pieces, report, leaf, path, ...rest }: Plan): unknown {
  const fresh = report.fresh.map(({ bytes, ...unit }) => ({ ...unit, bytes: Buffer.from(bytes).toString() }));
  const body = Buffer.concat(pieces).toString();
  return { body, report: { ...report, fresh }, leaf, path: [path.root, [...path.nodes]], rest };
}

/** One call of the ledger, and what it gave. */
type Call = {
  readonly before: LedgerStream;
  readonly described: unknown;
  readonly again: () => PlanResult | null;
  readonly gave: unknown;
};

const describeResult = (made: PlanResult | null): unknown =>
  made === null ? null : [describePlan(made.plan), describeStream(made.stream)];

/** A conversation whose every call of the ledger is kept, to be made again later. */
class KeptConversation {
  stream = newStream();
  wishes: AllWishes = noWishes();
  messages: readonly Message[] = [user("Begin.")];
  model = "claude-opus-5-5";
  readonly calls: Call[] = [];
  #answers = 0;
  #timeMs = 1_000;
  #previous: WireRequest | null = null;

  #call(again: () => PlanResult | null): PlanResult | null {
    const before = this.stream;
    const described = describeStream(before);
    const made = again();
    this.calls.push({ before, described, again, gave: describeResult(made) });
    if (made !== null) this.stream = made.stream;
    return made;
  }

  request(over: Partial<LedgerRequest> = {}, context: Partial<LedgerRequest["context"]> = {}): Plan | null {
    this.#timeMs += 60_000;
    const { stream, wishes } = this;
    const request = { ...turnOf(this.#read(), { timeMs: this.#timeMs, ...context }), ...over };
    return this.#call(() => plan(stream, request, wishes))?.plan ?? null;
  }

  /** One turn of the client, with the answer and, if that called our tools, with the round after it. */
  turn(isOwn: boolean): void {
    const sent = this.request();
    if (sent === null) return;
    const [end, content] = this.#answer(sent, isOwn);
    if (isOwn && end !== null) {
      const { stream, wishes } = this;
      const round = { ...turnOf(this.#read(), { timeMs: this.#timeMs }), path: sent.path, end };
      const made = this.#call(() => planRound(stream, round, wishes));
      if (made !== null) this.#answer(made.plan, false);
    }
    const n = this.#answers;
    const visible = isOwn ? answerOf(n, false) : content;
    const next = [{ role: "assistant", content: visible }, result(`c${n}`, lines(n % 3))];
    this.messages = [...this.messages, ...next];
  }

  /** Reads the body as the next one: it shares the parsed parts that did not change. */
  #read(): WireRequest {
    const { model, messages } = this;
    const body = { model, max_tokens: 100, system: "Be brief.", tools, messages };
    this.#previous = readBody(body, this.#previous);
    return this.#previous;
  }

  #answer({ leaf }: Plan, isOwn: boolean): readonly [number | null, readonly Block[]] {
    this.#answers += 1;
    const content = answerOf(this.#answers, isOwn);
    const body = Buffer.from(JSON.stringify({ type: "message", content, stop_reason: "tool_use" }));
    const { units, usage } = protocolOf({ protocol: "anthropic" }).answer.read(body, "application/json");
    const added = addAnswer(this.stream, leaf, { units, usage, changesSeq: 0 });
    this.stream = added.stream;
    return [added.nodes.at(-1)?.index ?? null, content];
  }

  wish(levels: readonly LevelWish[]): void {
    const facts = { ...shownFacts, expiring: [], changes: [] };
    const { length: seq } = this.calls;
    const fixed = {
      streamKey: "l",
      turn: this.stream.turn,
      tokenRate: 1,
      headerNames: ["auth.ts"],
      held: [],
    };
    this.wishes = updateWishes(this.wishes, { ...fixed, seq, facts, levels, isUrgent: true }, new Map());
  }
}

const action = fc.oneof(
  { weight: 4, arbitrary: fc.constant("turn") },
  { weight: 2, arbitrary: fc.constant("lower") },
  {
    weight: 4,
    arbitrary: fc.constantFrom("own", "say", "again", "count", "plain", "fork", "withhold", "model"),
  },
);

function act(conversation: KeptConversation, name: string): void {
  const { messages, stream } = conversation;
  const block = [...stream.numbers.known].findLast(({ key }) => key.startsWith("user:c"))?.block ?? 1;
  const wish = { block, as: "placeholder", text: "gone", input: null, tokens: 5, reason: "old" } as const;
  if (name === "turn" || name === "own") conversation.turn(name === "own");
  else if (name === "say") conversation.messages = [...messages, user(`And ${messages.length}?`)];
  else if (name === "again") conversation.request();
  else if (name === "count") conversation.request({ purpose: "count" });
  else if (name === "plain") conversation.request({}, { style: "plain" });
  else if (name === "fork") conversation.messages = [...messages.slice(0, 1), user("Otherwise.")];
  else if (name === "lower") conversation.wish([wish]);
  else if (name === "model") conversation.model = "claude-opus-4-6";
  else conversation.wishes = { ...conversation.wishes, withheld: new Map([["user:c1:x", null]]) };
}

describe("planning is a function", () => {
  test("the same stream, request and wishes give the same plan, and old streams never change", () => {
    fc.assert(
      fc.property(fc.array(action, { minLength: 3, maxLength: 14 }), (actions) => {
        const conversation = new KeptConversation();
        for (const name of actions) act(conversation, name);
        for (const { before, described, again, gave } of conversation.calls) {
          expect(describeStream(before)).toEqual(described);
          expect(describeResult(again())).toEqual(gave);
          expect(describeStream(before)).toEqual(described);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("an old stream renders the same bytes after newer ones were planned from it", () => {
    const conversation = new KeptConversation();
    for (let n = 0; n < 3; n += 1) conversation.turn(false);
    const { stream, wishes, messages, model } = conversation;
    const bodyFor = (text: string) => {
      const body = {
        model,
        max_tokens: 100,
        system: "Be brief.",
        tools,
        messages: [...messages, user(text)],
      };
      return turnOf(readBody(body));
    };
    const render = (text: string) =>
      Buffer.concat(plan(stream, bodyFor(text), wishes).plan.pieces).toString();
    const [one, other] = [render("one way"), render("another way")];
    expect([render("one way"), render("another way")]).toEqual([one, other]);
    expect(one.replace("one way", "another way")).toBe(other);
  });

  test("a plan shares the table pages that it did not change", () => {
    const conversation = new KeptConversation();
    for (let n = 0; n < 40; n += 1) conversation.turn(false);
    const before = conversation.stream.tree;
    conversation.turn(false);
    const after = conversation.stream.tree;
    const added = after.nodes.size - before.nodes.size;
    // Besides the new nodes only the last leaf and the repeated answer differ.
    expect([...after.nodes.changesSince(before.nodes)].length).toBeLessThanOrEqual(added + 4);
  });
});
