import { describe, expect, test } from "vitest";
import { hashContent, must } from "../../base/index.ts";
import { commandTools } from "../../commands/index.ts";
import { ingestRequest, readAnswer, type WireRequest } from "../../protocols/index.ts";
import type { RememberedTurn, SentUnit } from "../desk-port.ts";
import { SessionNumbers, StreamNumbers } from "./numbers.ts";
import { pathIn } from "./recalled.ts";
import type { RenderAsked } from "./rendering.ts";
import { StreamLedger } from "./stream-ledger.ts";

type Block = Readonly<Record<string, unknown>>;
type Message = {
  readonly role: string;
  readonly content: string | readonly Block[];
  readonly [x: string]: unknown;
};

const text = (words: string, over: object = {}): Block => ({ type: "text", text: words, ...over });
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

const saying = {
  headers: "off",
  timeMs: 0,
  commands: "tools",
  zoneMinutes: 0,
  rate: 1,
  names: [],
  memories: [],
  tail: () => "[k7f3 tail]",
} as const;

function openLedger(isNew: boolean): StreamLedger {
  return new StreamLedger({ nonce: "k7f3", isNew, numbers: new StreamNumbers(new SessionNumbers()) });
}

/** A ledger with everything it has told the log. */
class Told {
  readonly ledger = openLedger(true);
  readonly #units = new Map<string, SentUnit>();
  turns: readonly RememberedTurn[] = [];

  turn(body: object, said: readonly Block[] | null): string {
    const asked: RenderAsked = { request: read(body), ...way };
    const { pieces, report, leaf } = this.ledger.render(asked);
    for (const unit of report.fresh) this.#units.set(unit.id, unit);
    const sent = Buffer.concat(pieces);
    const heard = said === null ? null : { body: answerBody(said), contentType: "application/json" };
    if (heard !== null) this.ledger.heard(leaf, readAnswer(heard.body, heard.contentType).units);
    const turn = { body: sent, path: this.#path(report.leaf), answer: heard, turn: this.turns.length + 1 };
    this.turns = [...this.turns, turn];
    return sent.toString();
  }

  #path(leaf: string): RememberedTurn["path"] {
    const path: RememberedTurn["path"][number][] = [];
    let id: string | null = leaf;
    while (id !== null) {
      const unit: SentUnit = must(this.#units.get(id), "the log was told of it");
      path.push({ origin: unit.origin, key: unit.key, bytes: hashContent(unit.bytes) });
      id = unit.parent;
    }
    return path.reverse();
  }
}

const untouched = { wanted: new Map(), choose: () => null, resultOf: () => null, arrival: "off" } as const;
const how = {
  mayClear: true,
  mayEdit: false,
  isCold: false,
  reportsAll: false,
  saying,
  ...untouched,
} as const;
const way = { purpose: "turn", style: "managed", ...how } as const;

function read(body: object | Buffer): WireRequest {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  return must(ingestRequest(bytes, null), "the body can be read");
}

function answerBody(content: readonly Block[]): Buffer {
  return Buffer.from(
    JSON.stringify({ type: "message", role: "assistant", content, stop_reason: "end_turn" }),
  );
}

/** What an earlier process knew, put into a new ledger. */
function recalled(turns: readonly RememberedTurn[]): StreamLedger {
  const ledger = openLedger(false);
  for (const { body, path, turn, answer: heard } of turns) {
    const leaf = must(ledger.recall({ request: read(Buffer.from(body)), path, turn }), "body and path fit");
    if (heard !== null) ledger.heard(leaf, readAnswer(heard.body, heard.contentType).units);
  }
  return ledger;
}

type Talk = {
  readonly name: string;
  readonly model?: string;
  readonly over?: object;
  readonly extra?: readonly Message[];
};

const talks: readonly Talk[] = [
  { name: "a plain one" },
  { name: "one whose last text is dropped", model: "claude-opus-4-6" },
  { name: "one without system messages in between", model: "claude-next" },
  { name: "one with a system string", over: { system: "Be brief." } },
  { name: "one without anything in front", over: { system: undefined, tools: undefined } },
  {
    name: "one with deferred tools",
    over: { tools: [tool("look"), tool("later", { defer_loading: true })] },
  },
  {
    name: "one with system messages and changes of effort",
    extra: [
      { role: "system", content: [text("A notice.")] },
      { role: "system", content: [], output_config: { effort: "low" } },
    ],
  },
];

describe.each(talks)("after a restart: $name", ({ model = "claude-opus-5-5", over = {}, extra = [] }) => {
  const fixed = { model, max_tokens: 100, system: [text("Be brief.", mark)], tools: [tool("look")], ...over };
  const said = (n: number): readonly Message[] => [
    { role: "assistant", content: answer(n) },
    user(result(`c${n}`, `seen ${n}`)),
    ...extra,
  ];
  const bodies = [1, 2, 3, 4].map((count) => ({
    ...fixed,
    messages: [user(text("Begin.")), ...extra, ...[1, 2, 3].slice(0, count - 1).flatMap(said)],
  }));

  test("the next turn has the bytes it would have had without", () => {
    const told = new Told();
    const sent = bodies.map((body, at) => told.turn(body, at < 3 ? answer(at + 1) : null));
    for (const known of [1, 2, 3]) {
      const ledger = recalled(told.turns.slice(0, known));
      const next = must(bodies[known], "there is a next turn");
      const { pieces, report } = ledger.render({ request: read(next), ...way });
      expect(Buffer.concat(pieces).toString()).toBe(sent[known]);
      expect(report.fresh.every(({ parent }) => parent !== null)).toBe(true);
    }
  });

  test("the last turn alone is enough, and a request sent again has the same bytes", () => {
    const told = new Told();
    const sent = bodies.map((body, at) => told.turn(body, at < 3 ? answer(at + 1) : null));
    const ledger = recalled(told.turns.slice(3));
    const again = ledger.render({ request: read(must(bodies[3], "it is there")), ...way });
    expect(Buffer.concat(again.pieces).toString()).toBe(sent[3]);
    expect(again.report.fresh).toEqual([]);
  });
});

describe("a result that was shown in other words is known after a restart in every form", () => {
  const long = "seen in many words";
  const form = (content: unknown): Message => user({ ...result("c1", long), content });
  const body = (content: unknown) => ({
    model: "claude-opus-5-5",
    max_tokens: 100,
    tools: [tool("look")],
    messages: [user(text("Begin.")), { role: "assistant", content: answer(1) }, form(content)],
  });
  const whole = Buffer.from(JSON.stringify(result("c1", long)));

  /** How many units a ledger knows that was told of a result in some words, by a content of the log. */
  function knownOf(shown: string, originalOf: (content: string) => Uint8Array | null): number {
    const told = new Told();
    told.turn({ ...body(long), messages: [user(text("Begin."))] }, answer(1));
    told.turn(body(shown), null);
    const of = { content: hashContent(whole), as: "original" } as const;
    const ledger = openLedger(false);
    for (const { body: sent, path, turn } of told.turns) {
      const named = path.map((unit) => (unit.key.startsWith("user:c1:") ? { ...unit, of } : unit));
      ledger.recall({ request: read(Buffer.from(sent)), path: named, turn, originalOf });
    }
    return ledger.knows(read(body([text(long)])));
  }

  test("by its own words where they are remembered", () => {
    expect(knownOf("short", () => whole)).toBe(4);
    expect(knownOf("short", () => null)).toBe(3);
  });

  test("by what was sent where that was all of it", () => {
    expect(knownOf(`${long}\n`, () => null)).toBe(4);
  });
});

describe("a path", () => {
  const told = new Told();
  told.turn({ model: "claude-opus-5-5", tools: [tool("look")], messages: [user(text("Begin."))] }, null);
  const { body, path, turn } = must(told.turns[0], "it was sent");
  const request = read(Buffer.from(body));

  test("is found in the body it was sent with, all of it", () => {
    const found = must(pathIn({ request, path, turn }), "it is there");
    expect([found.head.length, found.said.length]).toEqual([
      2 + commandTools.length,
      path.length - 2 - commandTools.length,
    ]);
  });

  test("is not found where a unit is missing, in another order, or of another body", () => {
    const unknown = { origin: "client", key: "user::x", bytes: hashContent(Buffer.from("x")) } as const;
    expect(pathIn({ request, path: [...path, unknown], turn })).toBe(null);
    expect(pathIn({ request, path: [...path].reverse(), turn })).toBe(null);
    const other = read({ model: "m", messages: [user(text("Otherwise."))] });
    expect(pathIn({ request: other, path, turn })).toBe(null);
  });

  test("that does not fit leaves the ledger as it was", () => {
    const ledger = openLedger(false);
    expect(ledger.recall({ request, path: [...path].reverse(), turn })).toBe(null);
    expect(ledger.knows(request)).toBe(0);
  });
});
