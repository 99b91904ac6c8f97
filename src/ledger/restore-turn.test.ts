import { describe, expect, test } from "vitest";
import { hashContent, must } from "../base/index.ts";
import { commandTools } from "../commands/index.ts";
import type { SentRequestUnit, TurnRecord } from "../exchange/index.ts";
import { protocolOf, type WireRequest } from "../protocols/index.ts";
import { SessionNumbers, StreamNumbers } from "./block-numbers.ts";
import type { RenderInput } from "./request-plan.ts";
import { findPath } from "./restore-turn.ts";
import { StreamLedger } from "./stream-ledger.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;
const readRequest = anthropic.read.request;

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

const noteContext = {
  headers: "off",
  timeMs: 0,
  commands: "tools",
  zoneMinutes: 0,
  tokenRate: 1,
  names: [],
  memories: [],
  writeTail: () => "[k7f3 tail]",
} as const;

function openLedger(isNew: boolean): StreamLedger {
  return new StreamLedger({
    protocol: anthropic,
    nonce: "k7f3",
    isNew,
    numbers: new StreamNumbers(new SessionNumbers()),
  });
}

/** A ledger with the turns that the log records of it. */
class LedgerWithLog {
  readonly ledger = openLedger(true);
  readonly #units = new Map<string, SentRequestUnit>();
  turns: readonly TurnRecord[] = [];

  turn(body: object, content: readonly Block[] | null): string {
    const { pieces, report, leaf } = this.ledger.render(turnInput(body));
    for (const unit of report.fresh) this.#units.set(unit.id, unit);
    const sent = Buffer.concat(pieces);
    const answer = content === null ? null : { body: answerBody(content), contentType: "application/json" };
    if (answer !== null) this.ledger.addAnswer(leaf, readAnswer(answer.body, answer.contentType).units);
    const turn = { body: sent, path: this.#path(report.leaf), answer, turn: this.turns.length + 1 };
    this.turns = [...this.turns, turn];
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

function turnInput(body: object): RenderInput {
  return {
    request: read(body),
    purpose: "turn",
    style: "managed",
    mayClear: true,
    mayEdit: false,
    isCold: false,
    isFullReport: false,
    noteContext,
    wishes: new Map(),
    chooseRewrite: () => null,
    findResult: () => null,
    arrival: "off",
  };
}

function read(body: object | Buffer): WireRequest {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return must(readRequest(bytes, null), "the body can be read");
}

function answerBody(content: readonly Block[]): Buffer {
  return Buffer.from(
    JSON.stringify({ type: "message", role: "assistant", content, stop_reason: "end_turn" }),
  );
}

/** A new ledger with the turns of an earlier process. */
function restored(turns: readonly TurnRecord[]): StreamLedger {
  const ledger = openLedger(false);
  for (const { body, path, turn, answer } of turns) {
    const leaf = must(
      ledger.restoreTurn({ request: read(Buffer.from(body)), path, turn }),
      "body and path fit",
    );
    if (answer !== null) ledger.addAnswer(leaf, readAnswer(answer.body, answer.contentType).units);
  }
  return ledger;
}

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
      const logged = new LedgerWithLog();
      const sent = bodies.map((body, at) => logged.turn(body, at < 3 ? answer(at + 1) : null));
      for (const known of [1, 2, 3]) {
        const ledger = restored(logged.turns.slice(0, known));
        const next = must(bodies[known], "there is a next turn");
        const { pieces, report } = ledger.render(turnInput(next));
        expect(Buffer.concat(pieces).toString()).toBe(sent[known]);
        expect(report.fresh.every(({ parent }) => parent !== null)).toBe(true);
      }
    });

    test("the last turn alone is enough, and a request sent again has the same bytes", () => {
      const logged = new LedgerWithLog();
      const sent = bodies.map((body, at) => logged.turn(body, at < 3 ? answer(at + 1) : null));
      const ledger = restored(logged.turns.slice(3));
      const again = ledger.render(turnInput(must(bodies[3], "it is there")));
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

  /** The number of units a restored ledger knows, after a result was sent in another form. */
  function knownUnits(shown: string, findOriginal: (content: string) => Uint8Array | null): number {
    const logged = new LedgerWithLog();
    logged.turn({ ...body(long), messages: [user(text("Begin."))] }, answer(1));
    logged.turn(body(shown), null);
    const original = { content: hashContent(whole), as: "original" } as const;
    const ledger = openLedger(false);
    for (const { body: sent, path, turn } of logged.turns) {
      const recorded = path.map((unit) => (unit.key.startsWith("user:c1:") ? { ...unit, original } : unit));
      ledger.restoreTurn({ request: read(Buffer.from(sent)), path: recorded, turn, findOriginal });
    }
    return ledger.countKnownUnits(read(body([text(long)])));
  }

  test("by its original if that is found", () => {
    expect(knownUnits("short", () => whole)).toBe(4);
    expect(knownUnits("short", () => null)).toBe(3);
  });

  test("by the sent bytes if they were the whole result", () => {
    expect(knownUnits(`${long}\n`, () => null)).toBe(4);
  });
});

describe("a path", () => {
  const logged = new LedgerWithLog();
  logged.turn({ model: "claude-opus-5-5", tools: [tool("look")], messages: [user(text("Begin."))] }, null);
  const { body, path, turn } = must(logged.turns[0], "it was sent");
  const request = read(Buffer.from(body));

  test("is found as a whole in the body it was sent with", () => {
    const found = must(findPath({ request, path, turn }), "it is there");
    expect([found.head.length, found.messages.length]).toEqual([
      2 + commandTools.length,
      path.length - 2 - commandTools.length,
    ]);
  });

  test("is not found if a unit is missing or the order or body differs", () => {
    const unknown = { origin: "client", key: "user::x", bytesHash: hashContent(Buffer.from("x")) } as const;
    expect(findPath({ request, path: [...path, unknown], turn })).toBe(null);
    expect(findPath({ request, path: [...path].reverse(), turn })).toBe(null);
    const other = read({ model: "m", messages: [user(text("Otherwise."))] });
    expect(findPath({ request: other, path, turn })).toBe(null);
  });

  test("that does not fit does not change the ledger", () => {
    const ledger = openLedger(false);
    expect(ledger.restoreTurn({ request, path: [...path].reverse(), turn })).toBe(null);
    expect(ledger.countKnownUnits(request)).toBe(0);
  });
});
