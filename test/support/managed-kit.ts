import { must, sessionId, unwrap } from "../../src/base/index.ts";
import type { State, View } from "../../src/engine/index.ts";
import type { StreamLookup } from "../../src/exchange/index.ts";
import { answerQuestion } from "../../src/host/answer-question.ts";
import { type ExchangeSide, openMemoryStore, type Store } from "../../src/store/index.ts";
import { actDepsOver } from "./act-on-log.ts";
import { HandLedger, type Rendered } from "./hand-ledger.ts";
import {
  call,
  model,
  RecorderKit,
  type RequestInput,
  result,
  text,
  user,
  type WireMessages,
} from "./recorder-kit.ts";

const tool = (name: string) => ({ name, input_schema: {} });
export const thought = { type: "thinking", thinking: "hm", signature: "c2lnbmF0dXJl" };
export const named = { headers: { "x-aperture-session": "one" } };

/** What the client sends. */
export function body(talk: WireMessages): Buffer {
  const system = [text("Be brief.")];
  return Buffer.from(
    JSON.stringify({ model: "claude-opus-4-8", tools: [tool("read")], system, messages: talk }),
  );
}

/** The same with our units in it: a tool, a system text, a line before the last words of the user. */
export function ours(talk: WireMessages): Buffer {
  const tools = [tool("read"), tool("aperture_expand")];
  const system = [text("Be brief."), text("You can manage your context.")];
  return Buffer.from(JSON.stringify({ model: "claude-opus-4-8", tools, system, messages: talk }));
}

export const line = (n: number) => text(`[k7f3 turn ${n}]`);

type ManagedTurn = { readonly client: Buffer; readonly upstream: Buffer; readonly answer: readonly object[] };

/** Three turns: what the client said, and what was sent in its place. */
export const turns: readonly ManagedTurn[] = [
  {
    client: body([user([text("fix it")])]),
    upstream: ours([user([line(1), text("fix it")])]),
    answer: [thought, call("t1")],
  },
  {
    client: body([user([text("fix it")]), model([thought, call("t1")]), user([result("t1", "a file")])]),
    upstream: ours([
      user([line(1), text("fix it")]),
      model([call("t1")]),
      user([result("t1", "a file"), line(2)]),
    ]),
    answer: [text("done")],
  },
  {
    client: body([
      user([text("fix it")]),
      model([thought, call("t1")]),
      user([result("t1", "a file")]),
      model([text("done")]),
      user([text("thanks")]),
    ]),
    upstream: ours([
      user([line(1), text("fix it")]),
      model([call("t1")]),
      user([result("t1", "a file"), line(2)]),
      model([text("done")]),
      user([line(3), text("thanks")]),
    ]),
    answer: [text("at your service")],
  },
];

/** A managed conversation over a recorder, with the ledger in front of it done by hand. */
export class Managed {
  readonly store: Store;
  readonly kit: RecorderKit;
  readonly ledger = new HandLedger();

  constructor(store: Store = openMemoryStore(), prefix = "s") {
    this.store = store;
    this.kit = new RecorderKit(store, prefix);
  }

  ask(rendered: Rendered, asking: Omit<RequestInput, "talk"> = named): Promise<string> {
    return this.kit.send(rendered.client, { ...asking, sent: this.ledger.report(rendered) });
  }

  async turn(
    at: number,
    asking: Omit<RequestInput, "talk"> = named,
    over: Rendered["over"] = {},
  ): Promise<void> {
    const { client, upstream, answer } = turnAt(at);
    const id = await this.ask({ client, upstream, over }, asking);
    await this.kit.answer(id, { content: answer });
  }

  async state(session = "s-1"): Promise<State> {
    return unwrap(await this.kit.recorder.cache.log(sessionId(session))).state();
  }

  async view(session = "s-1"): Promise<View> {
    const [view] = [...(await this.state(session)).views.entries()];
    if (view === undefined) throw new Error("no turn was recorded");
    return view[1];
  }

  async bytes(exchange: number, side: ExchangeSide, session = "s-1"): Promise<string> {
    const deps = actDepsOver(this.kit.recorder, this.store, 1);
    await this.store.flush();
    const answer = unwrap(await answerQuestion(deps, { type: "body", session, exchange, side }));
    return Buffer.from(answer.bytes).toString();
  }

  async remembered(over: Partial<StreamLookup> = {}) {
    return unwrap(await this.kit.recorder.streamRecord({ ...question, ...over }));
  }
}

export const question: StreamLookup = {
  type: "ledger",
  owner: "local",
  upstream: "anthropic",
  client: "unknown",
  sessionKey: "one",
  credential: "c1",
  agent: null,
  messageKeys: [],
};

/** The turn of that number, from 0. */
export function turnAt(at: number): ManagedTurn {
  return must(turns[at], "there are three turns");
}
