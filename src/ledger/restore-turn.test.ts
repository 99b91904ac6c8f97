import { describe, expect, test } from "vitest";
import { newStream, readBody, turnOf } from "../../test/support/ledger-kit.ts";
import { hashContent, must } from "../base/index.ts";
import { commandTools } from "../commands/index.ts";
import type { SentRequestUnit, TurnRecord } from "../exchange/index.ts";
import { protocolOf } from "../protocols/index.ts";
import { addAnswer } from "./add-answer.ts";
import { countKnownUnits } from "./align-stream.ts";
import { noWishes } from "./all-wishes.ts";
import { defaultAwareness } from "./awareness-settings.ts";
import type { LedgerStream } from "./ledger-stream.ts";
import { plan } from "./plan.ts";
import { findPath, restoreTurns } from "./restore-turn.ts";

type Block = Readonly<Record<string, unknown>>;
type Message = {
  readonly role: string;
  readonly content: string | readonly Block[];
  readonly [x: string]: unknown;
};

const text = (content: string, over: object = {}): Block => ({ type: "text", text: content, ...over });
const tool = (name: string, over: object = {}): Block => ({
  name,
  input_schema: { type: "object" },
  ...over,
});
const mark = { cache_control: { type: "ephemeral" } };
const user = (...content: readonly Block[]): Message => ({ role: "user", content });
const result = (id: string, content: string): Block => ({ type: "tool_result", tool_use_id: id, content });
const answer = (n: number): readonly Block[] => [
  { type: "thinking", thinking: `thought ${n}`, signature: `sign-${n}` },
  { type: "tool_use", id: `c${n}`, name: "look", input: { n } },
];

/** The headers are off and the manifest is on, so that every turn has a tail. */
const context = { awareness: { ...defaultAwareness, headers: "off" }, arrival: "off" } as const;
const turn = (body: object) => turnOf(readBody(body), context);

/** A stream with the turns that the log records of it. */
class LoggedStream {
  stream = newStream();
  turns: readonly TurnRecord[] = [];
  readonly #units = new Map<string, SentRequestUnit>();

  turn(body: object, content: readonly Block[] | null): string {
    const planned = plan(this.stream, turn(body), noWishes());
    const { pieces, report, leaf } = planned.plan;
    this.stream = planned.stream;
    for (const unit of report.fresh) this.#units.set(unit.id, unit);
    const sent = Buffer.concat(pieces);
    const answer = content === null ? null : { body: answerBody(content), contentType: "application/json" };
    if (answer !== null) {
      const { units } = protocolOf({ protocol: "anthropic" }).answer.read(answer.body, answer.contentType);
      this.stream = addAnswer(this.stream, leaf, { units, usage: null, changesSeq: 0 }).stream;
    }
    const record = { body: sent, path: this.#path(report.leaf), answer, turn: this.turns.length + 1 };
    this.turns = [...this.turns, record];
    return sent.toString();
  }

  #path(leaf: string): TurnRecord["path"] {
    const path: TurnRecord["path"][number][] = [];
    let id: string | null = leaf;
    while (id !== null) {
      const unit: SentRequestUnit = must(this.#units.get(id), "the log has it");
      path.push({ origin: unit.origin, key: unit.key, bytesHash: hashContent(unit.bytes) });
      id = unit.parent;
    }
    return path.reverse();
  }
}

function answerBody(content: readonly Block[]): Buffer {
  return Buffer.from(
    JSON.stringify({ type: "message", role: "assistant", content, stop_reason: "end_turn" }),
  );
}

/**
 * A new stream with the turns of an earlier process. The manifest counts the blocks of the path, because
 * the new process has not counted what the earlier one sent.
 */
function restored(turns: readonly TurnRecord[]): LedgerStream {
  return restoreTurns(newStream(false), turns);
}

/** The body without its last manifest. */
const withoutTail = (body: string): string =>
  body.replace(/\[CONTEXT MANIFEST (?!.*\[CONTEXT MANIFEST).*? free/s, "[tail");

type ConversationCase = {
  readonly name: string;
  readonly model?: string;
  readonly over?: object;
  readonly extra?: readonly Message[];
};

const conversations: readonly ConversationCase[] = [
  { name: "plain" },
  { name: "with a dropped tail", model: "claude-opus-4-6" },
  { name: "without system messages between others", model: "claude-next" },
  { name: "with a system string", over: { system: "Be brief." } },
  { name: "without system texts and tools", over: { system: undefined, tools: undefined } },
  {
    name: "with deferred tools",
    over: { tools: [tool("look"), tool("later", { defer_loading: true })] },
  },
  {
    name: "with system messages and changes of effort",
    extra: [
      { role: "system", content: [text("A notice.")] },
      { role: "system", content: [], output_config: { effort: "low" } },
    ],
  },
];

describe.each(conversations)(
  "after a restart: $name",
  ({ model = "claude-opus-5-5", over = {}, extra = [] }) => {
    const fixed = {
      model,
      max_tokens: 100,
      system: [text("Be brief.", mark)],
      tools: [tool("look")],
      ...over,
    };
    const round = (n: number): readonly Message[] => [
      { role: "assistant", content: answer(n) },
      user(result(`c${n}`, `seen ${n}`)),
      ...extra,
    ];
    const bodies = [1, 2, 3, 4].map((count) => ({
      ...fixed,
      messages: [user(text("Begin.")), ...extra, ...[1, 2, 3].slice(0, count - 1).flatMap(round)],
    }));

    test("the next turn has the bytes it would have had without the restart", () => {
      const logged = new LoggedStream();
      const sent = bodies.map((body, at) => logged.turn(body, at < 3 ? answer(at + 1) : null));
      for (const known of [1, 2, 3]) {
        const next = must(bodies[known], "there is a next turn");
        const { pieces, report } = plan(restored(logged.turns.slice(0, known)), turn(next), noWishes()).plan;
        expect(withoutTail(Buffer.concat(pieces).toString())).toBe(
          withoutTail(must(sent[known], "it was sent")),
        );
        expect(report.fresh.every(({ parent }) => parent !== null)).toBe(true);
      }
    });

    test("the last turn alone is enough, and a request sent again has the same bytes", () => {
      const logged = new LoggedStream();
      const sent = bodies.map((body, at) => logged.turn(body, at < 3 ? answer(at + 1) : null));
      const stream = restored(logged.turns.slice(3));
      const { plan: again } = plan(stream, turn(must(bodies[3], "it is there")), noWishes());
      expect(Buffer.concat(again.pieces).toString()).toBe(sent[3]);
      expect(again.report.fresh).toEqual([]);
    });
  },
);

describe("a shortened result is known after a restart in every form", () => {
  const long = "seen in many words";
  const form = (content: unknown): Message => user({ ...result("c1", long), content });
  const body = (content: unknown) => ({
    model: "claude-opus-5-5",
    max_tokens: 100,
    tools: [tool("look")],
    messages: [user(text("Begin.")), { role: "assistant", content: answer(1) }, form(content)],
  });
  const whole = Buffer.from(JSON.stringify(result("c1", long)));

  /** The number of units a restored stream knows, after a result was sent in another form. */
  function knownUnits(shown: string, bytes: Uint8Array | null): number {
    const logged = new LoggedStream();
    logged.turn({ ...body(long), messages: [user(text("Begin."))] }, answer(1));
    logged.turn(body(shown), null);
    const content = hashContent(whole);
    const original = { content, as: "original", ...(bytes === null ? {} : { bytes }) } as const;
    const turns = logged.turns.map((one) => {
      const path = one.path.map((unit) => (unit.key.startsWith("user:c1:") ? { ...unit, original } : unit));
      return { ...one, path, answer: null };
    });
    return countKnownUnits(restored(turns), readBody(body([text(long)])));
  }

  test("by its original if the log has it", () => {
    expect(knownUnits("short", whole)).toBe(4);
    expect(knownUnits("short", null)).toBe(3);
  });

  test("by its original if another turn has it", () => {
    const logged = new LoggedStream();
    logged.turn(body(long), null);
    logged.turn(body("short"), null);
    const original = { content: hashContent(whole), as: "original" } as const;
    const [first, second] = logged.turns;
    const path = must(second, "it was sent").path.map((unit) =>
      unit.key.startsWith("user:c1:") ? { ...unit, original } : unit,
    );
    const turns = [must(first, "it was sent"), { ...must(second, "it was sent"), path }];
    expect(countKnownUnits(restored(turns), readBody(body([text(long)])))).toBe(4);
  });

  test("by the sent bytes if they were the whole result", () => {
    expect(knownUnits(`${long}\n`, null)).toBe(4);
  });
});

describe("a path", () => {
  const logged = new LoggedStream();
  logged.turn({ model: "claude-opus-5-5", tools: [tool("look")], messages: [user(text("Begin."))] }, null);
  const record = must(logged.turns[0], "it was sent");
  const { path } = record;
  const request = readBody(Buffer.from(record.body));

  test("is found as a whole in the body it was sent with", () => {
    const found = must(findPath({ request, path }), "it is there");
    expect([found.head.length, found.messages.length]).toEqual([
      2 + commandTools.length,
      path.length - 2 - commandTools.length,
    ]);
  });

  test("is not found if a unit is missing or the order or body differs", () => {
    const unknown = { origin: "client", key: "user::x", bytesHash: hashContent(Buffer.from("x")) } as const;
    expect(findPath({ request, path: [...path, unknown] })).toBe(null);
    expect(findPath({ request, path: [...path].reverse() })).toBe(null);
    const other = readBody({ model: "m", messages: [user(text("Otherwise."))] });
    expect(findPath({ request: other, path })).toBe(null);
  });

  test("that does not fit does not change the stream", () => {
    const stream = newStream(false);
    expect(restoreTurns(stream, [{ ...record, path: [...path].reverse() }])).toBe(stream);
  });
});
