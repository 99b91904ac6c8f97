import { expect, test } from "vitest";
import { PlannerKit } from "../../../test/support/planner-kit.ts";
import { must } from "../../base/index.ts";
import type { StreamRecord, TurnRecord } from "../../exchange/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { WithheldRegistry } from "./withheld-registry.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

type Message = { readonly role: string; readonly content: unknown };

const tools = [{ name: "look", description: "looks", input_schema: { type: "object", properties: {} } }];
const named = { "x-aperture-session": "one" };
const mark = { cache_control: { type: "ephemeral" } };

function kit(): PlannerKit {
  let n = 0;
  return new PlannerKit({
    model: () => {
      n += 1;
      const thinking = { type: "thinking", thinking: `thought ${n}` } as const;
      return n % 3 === 0
        ? { content: [thinking, { type: "text", text: `answer ${n}` }] }
        : { content: [thinking, { type: "tool_use", name: "look", input: { n } }] };
    },
  });
}

function body(messages: readonly Message[], model = "claude-opus-5-5"): object {
  const marked = messages.map((message, at) =>
    at === messages.length - 1 && Array.isArray(message.content)
      ? {
          ...message,
          content: message.content.map((block, index, all) =>
            index === all.length - 1 ? { ...block, ...mark } : block,
          ),
        }
      : message,
  );
  return {
    model,
    max_tokens: 1000,
    system: [{ type: "text", text: "Be brief.", ...mark }],
    tools,
    thinking: { type: "adaptive" },
    messages: marked,
  };
}

test("a conversation of many turns is accepted, and each body extends the one before", async () => {
  const planner = kit();
  let messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  let before = "";
  for (let turn = 1; turn <= 9; turn += 1) {
    const { attempts, body: got, sending } = await planner.post(body(messages), { headers: named });
    expect(attempts.map(({ problem }) => problem)).toEqual([null]);
    expect(sending.rendering).toBe("managed");
    const sent = JSON.parse(attempts[0]?.body ?? "{}") as { messages: unknown[] };
    const text = JSON.stringify(sent.messages).replaceAll(',"cache_control":{"type":"ephemeral"}', "");
    expect(text.startsWith(before.slice(0, -2))).toBe(true);
    before = text;
    const message = JSON.parse(got.toString()) as { content: { type: string; id?: string }[] };
    const call = message.content.find(({ type }) => type === "tool_use");
    const next = call
      ? [{ type: "tool_result", tool_use_id: call.id, content: `seen ${turn}` }]
      : [{ type: "text", text: `Go on ${turn}.` }];
    messages = [
      ...messages,
      { role: "assistant", content: message.content },
      { role: "user", content: next },
    ];
  }
  expect(before).toContain("[CONTEXT MANIFEST k7f3 turn 9 |");
});

test("a branch in use stays whole when a branch that forked from it is dropped", async () => {
  const planner = kit();
  const says = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
  const post = async (messages: readonly Message[]): Promise<readonly Message[]> => {
    const { attempts, body: got } = await planner.post(plain(messages), { headers: named });
    expect(attempts.map(({ problem }) => problem)).toEqual([null]);
    const { content } = JSON.parse(got.toString()) as { content: { type: string; id?: string }[] };
    const call = content.find(({ type }) => type === "tool_use");
    const result = [{ type: "tool_result", tool_use_id: call?.id, content: "seen" }];
    const next = call === undefined ? says("Go on.") : { role: "user", content: result };
    return [...messages, { role: "assistant", content }, next];
  };
  const plain = (messages: readonly Message[]): object => ({ ...body([]), messages });
  const before = await post(await post([says("Begin.")]));
  let main = await post(before);
  await post([...before.slice(0, -2), { role: "assistant", content: [text("Never said.")] }, says("Else.")]);
  main = await post(main);
  for (let side = 0; side < 256; side += 1) {
    await post([says(`Beside ${side}.`)]);
    if (side % 100 === 0) main = await post(main);
  }
  const { attempts } = await planner.post(plain(main), { headers: named });
  const reasoned = main.flatMap(({ content }) => content).filter((block) => isReasoning(block));
  const sent = JSON.parse(attempts[0]?.body ?? "{}") as { messages: Message[] };
  expect(sent.messages.flatMap(({ content }) => content).filter(isReasoning)).toEqual(reasoned);
});

test("sessions of a login are managed from the owner's consent until it is withdrawn", async () => {
  let managesLogins = false;
  const planner = new PlannerKit({
    model: () => ({ content: [{ type: "thinking", thinking: "hm" }, text("Yes.")] }),
    place: { managesLogins: () => managesLogins },
  });
  let messages: readonly Message[] = [];
  const rendering = async (): Promise<string> => {
    messages = [...messages, { role: "user", content: [text("Go on.")] }];
    const posted = await planner.post(body(messages), { headers: named, isLogin: true });
    expect(posted.attempts.map(({ problem }) => problem)).toEqual([null]);
    const { content } = JSON.parse(posted.body.toString()) as Pick<Message, "content">;
    messages = [...messages, { role: "assistant", content }];
    return posted.sending.rendering;
  };
  expect(await rendering()).toBe("raw");
  managesLogins = true;
  expect(await rendering()).toBe("managed");
  managesLogins = false;
  expect(await rendering()).toBe("plain");
});

const nextIds = { block: 1, message: 1 };
const text = (words: string) => ({ type: "text", text: words }) as const;
const isReasoning = (block: unknown): boolean => (block as { type: string }).type === "thinking";

test("a record that cannot be restored is dropped, and the client does not notice", async () => {
  const turns = [{ body: Buffer.from("{"), path: null, answer: null, turn: 1 }] as never;
  const record: StreamRecord = {
    generatedName: null,
    wasManaged: true,
    isKnown: true,
    model: null,
    lastTurn: 1,
    blocks: [],
    wishes: null,
    nextIds,
    turns,
  };
  const kit = new PlannerKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { lookUpStream: () => Promise.resolve(record) },
  });
  const messages = [
    { role: "user", content: "One." },
    { role: "assistant", content: "Two." },
    { role: "user", content: "Three." },
  ];
  const { attempts } = await kit.post(body(messages), { headers: named });
  expect(attempts.map(({ problem }) => problem)).toEqual([null]);
});

/** The record of a turn that was sent unchanged. */
function rawTurn(request: object): TurnRecord {
  const bytes = Buffer.from(JSON.stringify(request));
  const wire = must(readRequest(bytes, null), "it can be read");
  const units = [wire.tools, wire.system, ...wire.messages].flatMap((group) => group.units);
  const origin = (role: string | null) => (role === "assistant" ? "model" : "client");
  const path = units.map(({ key, hash, role }) => ({ origin: origin(role), key, bytesHash: hash }) as const);
  return { body: bytes, path, answer: null, turn: 1 };
}

test("an observed conversation continues with the client's messages, not with outdated records", async () => {
  const thought = { type: "thinking", thinking: "once", signature: "s" };
  const says = (role: string, ...content: object[]): Message => ({ role, content });
  const conversation = (...answer: object[]): readonly Message[] => [
    says("user", text("One.")),
    says("assistant", ...answer),
    says("user", text("Three.")),
  ];
  const turns = [rawTurn(body(conversation(thought, text("Two."))))];
  const record: StreamRecord = {
    generatedName: null,
    wasManaged: false,
    isKnown: true,
    model: null,
    lastTurn: 1,
    wishes: null,
    nextIds,
    blocks: [],
    turns,
  };
  const kit = new PlannerKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { lookUpStream: () => Promise.resolve(record) },
  });
  const post = (headers: Readonly<Record<string, string>>) =>
    kit.post(body(conversation(text("Two."))), { headers: { ...named, ...headers } });
  expect((await post({ "x-aperture-mode": "observe" })).sending.rendering).toBe("raw");
  const { sending, attempts } = await post({});
  expect([sending.rendering, ...attempts.map(({ problem }) => problem)]).toEqual(["managed", null]);
  expect(attempts[0]?.body).not.toContain("once");
});

test("a body that cannot be read is refused if its session may have withheld content", async () => {
  const withheld = new WithheldRegistry([]);
  const { planner } = new PlannerKit({ model: () => ({ content: [] }), place: { withheld } });
  const unreadable = Buffer.from('{"model":"claude-opus-5-5","model":"x","messages":[]}');
  const refusal = async (headers: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const meta = { ...anyMeta, headers, length: unreadable.length };
    return (await planner.plan(meta, [unreadable])).refusal?.code;
  };
  expect(await refusal(named)).toBeUndefined();
  const whose = { session: "s1", owner: "local", upstream: "anthropic", client: "unknown", name: "one" };
  withheld.update({ ...whose, units: [{ key: "user::x", print: null }] });
  expect(await refusal(named)).toBe("AP_WITHHELD_UNREADABLE");
  // The unread body may name the session. Another name in a header means another session.
  expect(await refusal({})).toBe("AP_WITHHELD_UNREADABLE");
  expect(await refusal({ "x-aperture-session": "two" })).toBeUndefined();
  withheld.update({ ...whose, units: [] });
  expect(await refusal(named)).toBeUndefined();
});

const anyMeta = {
  id: "unread",
  protocol: "anthropic",
  upstream: "anthropic",
  method: "POST",
  target: "/v1/messages",
  headers: {},
  caller: { owner: "local", credential: "key-1", secrets: [] },
  startedMs: 0,
  isLogin: false,
} as const;

test("a stream that the log lost is reported whole once the recorder keeps up, not before", async () => {
  const record = { version: 0, isBehind: false };
  const planner = new PlannerKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordVersionOf: () => record.version, isBehind: () => record.isBehind },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const report = async (): Promise<readonly [units: number, hasBody: boolean]> => {
    const { sending, body: got } = await planner.post(body(messages), { headers: named });
    const { content } = JSON.parse(got.toString()) as { content: unknown };
    messages.push({ role: "assistant", content });
    messages.push({ role: "user", content: [{ type: "text", text: `Go on ${messages.length}.` }] });
    const { fresh = [], body: sent = [] } = sending.sent ?? {};
    return [fresh.length, Buffer.concat(sent).length > 0];
  };
  const [first] = await report();
  const [second] = await report();
  expect(second).toBeGreaterThan(0);
  record.version = 1;
  record.isBehind = true;
  expect(await report()).toEqual([0, false]);
  expect(await report()).toEqual([0, false]);
  record.isBehind = false;
  const [whole, hasBody] = await report();
  expect([whole, hasBody]).toEqual([first + 4 * second, true]);
  expect(await report()).toEqual([second, true]);
});

test("a token count does not replace the full report of a stream that the log lost", async () => {
  const record = { version: 0 };
  const planner = new PlannerKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordVersionOf: () => record.version },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const { sending: first, body: got } = await planner.post(body(messages), { headers: named });
  const { content } = JSON.parse(got.toString()) as { content: unknown };
  messages.push({ role: "assistant", content }, { role: "user", content: [{ type: "text", text: "On." }] });
  record.version = 1;
  await planner.post(body(messages), { headers: named, target: "/v1/messages/count_tokens" });
  const { sending } = await planner.post(body(messages), { headers: named });
  const units = ({ sent }: typeof sending): number => sent?.fresh.length ?? 0;
  expect(units(sending)).toBeGreaterThan(units(first));
});

test("a conversation that begins after a loss is reported normally", async () => {
  const planner = new PlannerKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordVersionOf: () => 7, isBehind: () => true },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const { sending } = await planner.post(body(messages), { headers: named });
  expect(sending.sent?.fresh.length).toBeGreaterThan(0);
});
