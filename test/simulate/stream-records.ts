import { type ContentHash, hashContent } from "../../src/base/index.ts";
import type { SentRequest, SentRequestUnit, StreamLookup } from "../../src/exchange/index.ts";
import type { QuestionAnswers } from "../../src/host/questions.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import type { Posted } from "../support/planner-kit.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;
const readRequest = anthropic.read.request;

/** Knows: everything. Late: never answers. Rejects: says that it cannot. */
export type MemoryMode = "knows" | "late" | "rejects";

type RememberedStream = NonNullable<QuestionAnswers["ledger"]>;
type RememberedTurn = RememberedStream["turns"][number];
/** What outlives a planner. */
export type Memory = {
  mode: MemoryMode;
  /** What was asked, and what was heard of the answer; null: nothing. */
  readonly note: (posted: Posted, received: Buffer | null) => Promise<void>;
  /** Another process takes over; of each stream the last turns may be lost. */
  readonly restart: (lostTurns: number) => Promise<void>;
  readonly remember: (question: StreamLookup) => Promise<QuestionAnswers["ledger"]>;
};

type Kept = RememberedTurn & { readonly conversation: readonly string[] };
type KeptStream = {
  readonly name: string;
  readonly generatedName: string | null;
  readonly credential: string;
  readonly units: Map<string, SentRequestUnit>;
  /** What the model said, as the planner has called it. */
  readonly said: Map<number, RememberedStream["blocks"][number]>;
  turns: readonly Kept[];
  wasManaged: boolean;
};

/** What a recorder would have of each stream, kept in memory: the quick form of a log. */
export class SimulatedRecords implements Memory {
  mode: MemoryMode = "knows";
  readonly #streams = new Map<string, KeptStream>();

  note(posted: Posted, received: Buffer | null): Promise<void> {
    this.#note(posted, received);
    return Promise.resolve();
  }

  #note({ asking, attempts, sending, answer, numbered }: Posted, body: Buffer | null): void {
    for (const { sending: one } of attempts) if (one.sent !== null) this.#noteUnits(asking, one.sent);
    const { sent } = sending;
    if (sent === null || !sent.isTurn) return;
    const stream = this.#streams.get(this.#nameOf(asking, sent));
    if (stream === undefined) return;
    const path = pathTo(stream.units, sent.leaf);
    if (path === null) return;
    const request = readRequest(Buffer.from(sending.clientBody), null);
    const contentType = answer.headers.find(([name]) => name === "content-type")?.[1] ?? "";
    const received = answer.status === 200 && body !== null ? { body, contentType } : null;
    const said =
      received === null ? [] : readAnswer(received.body, contentType).units.map(({ unit }) => unit.key);
    for (const [at, key] of said.entries()) {
      const called = numbered?.[at] ?? null;
      if (called !== null) stream.said.set(called.block, { key, ...called });
    }
    stream.turns = [
      ...stream.turns,
      {
        body: Buffer.concat(sent.body),
        path,
        answer: received,
        turn: stream.turns.length + 1,
        conversation: [...(request?.messageKeys ?? []), ...said],
      },
    ];
  }

  restart(lostTurns: number): Promise<void> {
    for (const stream of this.#streams.values()) {
      stream.turns = stream.turns.slice(0, Math.max(0, stream.turns.length - lostTurns));
    }
    return Promise.resolve();
  }

  remember(question: StreamLookup): Promise<RememberedStream | null> {
    if (this.mode === "late") return new Promise(() => undefined);
    if (this.mode === "rejects") return Promise.reject(new Error("the store is gone"));
    const stream = question.sessionKey === null ? this.#alike(question) : this.#named(question);
    if (stream === null) return Promise.resolve(this.#sessionOf(question));
    const { generatedName, wasManaged, turns } = stream;
    const common = { generatedName, wasManaged, isKnown: true, model: null, turns, lastTurn: turns.length };
    return Promise.resolve({ ...common, blocks: blocksIn([stream]), wishes: null, nextIds: this.#next() });
  }

  /** Of a session whose stream is new it is known which numbers are taken. */
  #sessionOf({ sessionKey }: StreamLookup): RememberedStream | null {
    const isKnown = [...this.#streams.keys()].some((name) =>
      name.startsWith(`[${JSON.stringify(sessionKey)},`),
    );
    if (sessionKey === null || !isKnown) return null;
    const none = { generatedName: null, wasManaged: false, isKnown: false, model: null, turns: [] };
    return { ...none, lastTurn: 0, blocks: [], wishes: null, nextIds: this.#next() };
  }

  /** Behind all numbers ever given, whichever session they were given in. */
  #next(): RememberedStream["nextIds"] {
    const blocks = blocksIn([...this.#streams.values()]);
    return {
      block: 1 + Math.max(0, ...blocks.map(({ block }) => block)),
      message: 1 + Math.max(0, ...blocks.map(({ message }) => message)),
    };
  }

  #noteUnits(asking: Posted["asking"], sent: SentRequest): void {
    const name = this.#nameOf(asking, sent);
    const { credential } = asking.caller;
    const stream: KeptStream = this.#streams.get(name) ?? {
      name,
      generatedName: sent.generatedName,
      credential,
      units: new Map(),
      said: new Map(),
      turns: [],
      wasManaged: false,
    };
    this.#streams.set(name, stream);
    stream.wasManaged = true;
    for (const unit of sent.fresh) stream.units.set(unit.id, unit);
  }

  #nameOf(asking: Posted["asking"], { generatedName }: SentRequest): string {
    const { headers } = asking;
    const agent = headers["x-claude-code-agent-id"];
    const session = headers["x-aperture-session"] ?? headers["x-claude-code-session-id"] ?? generatedName;
    return nameOf(session, agent === undefined ? null : `agent ${agent}`);
  }

  #named({ sessionKey, agent }: StreamLookup): KeptStream | null {
    return this.#streams.get(nameOf(sessionKey, agent)) ?? null;
  }

  /** The conversation that shares most units, an answer among them; of equals the newest. */
  #alike({ credential, messageKeys: conversation }: StreamLookup): KeptStream | null {
    let best: { readonly stream: KeptStream; readonly fit: number } | null = null;
    const asked = spoken(conversation);
    for (const stream of this.#streams.values()) {
      if (stream.generatedName === null || stream.credential !== credential) continue;
      for (const turn of stream.turns) {
        const said = new Set(turn.conversation);
        const shared = asked.filter((key) => said.has(key));
        const fit = shared.length;
        const hasAnswer =
          asked[0] === turn.conversation[0] && shared.some((key) => /^(?:assistant:|call:)/.test(key));
        if (hasAnswer && fit >= (best?.fit ?? 0)) best = { stream, fit };
      }
    }
    return best?.stream ?? null;
  }
}

function blocksIn(streams: readonly KeptStream[]): RememberedStream["blocks"] {
  return streams.flatMap(({ units, said }) => [
    ...[...units.values()].flatMap(({ key, numbered }) =>
      numbered === null
        ? []
        : [{ key, block: numbered.block, message: numbered.message, turn: numbered.turn }],
    ),
    ...said.values(),
  ]);
}

function nameOf(session: string | null, agent: string | null): string {
  return JSON.stringify([session, agent]);
}

/** Reasoning is what clients drop most readily. */
function spoken(conversation: readonly string[]): readonly string[] {
  return conversation.filter((key) => !key.startsWith("sign:"));
}

function pathTo(units: ReadonlyMap<string, SentRequestUnit>, leaf: string): RememberedTurn["path"] | null {
  const path: { origin: SentRequestUnit["origin"]; key: string; bytesHash: ContentHash }[] = [];
  for (let at: string | null = leaf; at !== null; ) {
    const unit = units.get(at);
    if (unit === undefined) return null;
    path.push({ origin: unit.origin, key: unit.key, bytesHash: hashContent(unit.bytes) });
    at = unit.parent;
  }
  return path.reverse();
}
