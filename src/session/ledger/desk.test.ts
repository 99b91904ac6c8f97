import { expect, test } from "vitest";
import { DeskKit } from "../../../test/support/desk-kit.ts";
import { must } from "../../base/index.ts";
import { ingestRequest } from "../../protocols/index.ts";
import { Withholding } from "./withholding.ts";

type Message = { readonly role: string; readonly content: unknown };

const tools = [{ name: "look", description: "looks", input_schema: { type: "object", properties: {} } }];
const named = { "x-aperture-session": "one" };
const mark = { cache_control: { type: "ephemeral" } };

function kit(): DeskKit {
  let n = 0;
  return new DeskKit({
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

test("a talk of many turns is accepted, and each body goes on from the one before", async () => {
  const desk = kit();
  let messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  let before = "";
  for (let turn = 1; turn <= 9; turn += 1) {
    const { attempts, body: got, sending } = await desk.post(body(messages), { headers: named });
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

test("a branch in use stays whole when another that parted from it is given up", async () => {
  const desk = kit();
  const says = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
  const post = async (messages: readonly Message[]): Promise<readonly Message[]> => {
    const { attempts, body: got } = await desk.post(plain(messages), { headers: named });
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
  const { attempts } = await desk.post(plain(main), { headers: named });
  const reasoned = main.flatMap(({ content }) => content).filter((block) => isReasoning(block));
  const sent = JSON.parse(attempts[0]?.body ?? "{}") as { messages: Message[] };
  expect(sent.messages.flatMap(({ content }) => content).filter(isReasoning)).toEqual(reasoned);
});

const next = { block: 1, message: 1 };
const text = (words: string) => ({ type: "text", text: words });
const isReasoning = (block: unknown): boolean => (block as { type: string }).type === "thinking";

test("a memory that makes no sense is none, and the client hears nothing of it", async () => {
  const turns = [{ body: Buffer.from("{"), path: null, answer: null, turn: 1 }] as never;
  const known = {
    talkName: null,
    wasManaged: true,
    isKnown: true,
    model: null,
    turn: 1,
    blocks: [],
    briefing: null,
    next,
  };
  const remember = () => Promise.resolve({ ...known, turns });
  const kit = new DeskKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { remember },
  });
  const messages = [
    { role: "user", content: "One." },
    { role: "assistant", content: "Two." },
    { role: "user", content: "Three." },
  ];
  const { attempts } = await kit.post(body(messages), { headers: named });
  expect(attempts.map(({ problem }) => problem)).toEqual([null]);
});

/** A turn as the log gives it back, sent as it came. */
function rawTurn(request: object) {
  const bytes = Buffer.from(JSON.stringify(request));
  const read = must(ingestRequest(bytes, null), "it can be read");
  const units = [read.tools, read.system, ...read.messages].flatMap((group) => group.units);
  const origin = (role: string | null) => (role === "assistant" ? "model" : "client");
  const path = units.map(({ key, hash, role }) => ({ origin: origin(role), key, bytes: hash }));
  return { body: bytes, path, answer: null, turn: 1 };
}

test("a talk that was watched goes on with its own words, not with those a log once told", async () => {
  const thought = { type: "thinking", thinking: "once", signature: "s" };
  const says = (role: string, ...content: object[]): Message => ({ role, content });
  const talk = (...answer: object[]): readonly Message[] => [
    says("user", text("One.")),
    says("assistant", ...answer),
    says("user", text("Three.")),
  ];
  const turns = [rawTurn(body(talk(thought, text("Two."))))];
  const known = { talkName: null, wasManaged: false, isKnown: true, model: null, turn: 1, briefing: null };
  const remember = () => Promise.resolve({ ...known, next, blocks: [], turns } as never);
  const kit = new DeskKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { remember },
  });
  const post = (headers: Readonly<Record<string, string>>) =>
    kit.post(body(talk(text("Two."))), { headers: { ...named, ...headers } });
  expect((await post({ "x-aperture-mode": "observe" })).sending.rendering).toBe("raw");
  const { sending, attempts } = await post({});
  expect([sending.rendering, ...attempts.map(({ problem }) => problem)]).toEqual(["managed", null]);
  expect(attempts[0]?.body).not.toContain("once");
});

test("where anything is withheld, a body that cannot be read does not leave", async () => {
  const withholding = new Withholding([]);
  const { desk } = new DeskKit({ model: () => ({ content: [] }), place: { withholding } });
  const twice = Buffer.from('{"model":"claude-opus-5-5","model":"x","messages":[]}');
  const taken = async (headers: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const asking = { ...asked, headers, length: twice.length };
    return (await desk.take(asking, [twice])).refusal?.code;
  };
  expect(await taken(named)).toBeUndefined();
  const whose = { session: "s1", owner: "local", upstream: "anthropic", client: "unknown", name: "one" };
  withholding.note({ ...whose, units: [{ key: "user::x", print: null }] });
  expect(await taken(named)).toBe("AP_WITHHELD_UNREADABLE");
  // Its name may be in what was not read. Another one says that it is another session.
  expect(await taken({})).toBe("AP_WITHHELD_UNREADABLE");
  expect(await taken({ "x-aperture-session": "two" })).toBeUndefined();
  withholding.note({ ...whose, units: [] });
  expect(await taken(named)).toBeUndefined();
});

const asked = {
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

test("what the record lost is told again as a whole, once it can be, and until then nothing that hangs on it", async () => {
  const record = { number: 0, isBehind: false };
  const desk = new DeskKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordOf: () => record.number, isBehind: () => record.isBehind },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const told = async (): Promise<readonly [units: number, hasBody: boolean]> => {
    const { sending, body: got } = await desk.post(body(messages), { headers: named });
    const { content } = JSON.parse(got.toString()) as { content: unknown };
    messages.push({ role: "assistant", content });
    messages.push({ role: "user", content: [{ type: "text", text: `Go on ${messages.length}.` }] });
    const { fresh = [], body: sent = [] } = sending.sent ?? {};
    return [fresh.length, Buffer.concat(sent).length > 0];
  };
  const [first] = await told();
  const [second] = await told();
  expect(second).toBeGreaterThan(0);
  record.number = 1;
  record.isBehind = true;
  expect(await told()).toEqual([0, false]);
  expect(await told()).toEqual([0, false]);
  record.isBehind = false;
  const [whole, hasBody] = await told();
  expect([whole, hasBody]).toEqual([first + 4 * second, true]);
  expect(await told()).toEqual([second, true]);
});

test("a question that counts does not use up what has to be told again", async () => {
  const record = { number: 0 };
  const desk = new DeskKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordOf: () => record.number },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const { sending: first, body: got } = await desk.post(body(messages), { headers: named });
  const { content } = JSON.parse(got.toString()) as { content: unknown };
  messages.push({ role: "assistant", content }, { role: "user", content: [{ type: "text", text: "On." }] });
  record.number = 1;
  await desk.post(body(messages), { headers: named, target: "/v1/messages/count_tokens" });
  const { sending } = await desk.post(body(messages), { headers: named });
  const units = ({ sent }: typeof sending): number => sent?.fresh.length ?? 0;
  expect(units(sending)).toBeGreaterThan(units(first));
});

test("a talk that begins after something was lost has lost nothing itself", async () => {
  const desk = new DeskKit({
    model: () => ({ content: [{ type: "text", text: "Yes." }] }),
    place: { recordOf: () => 7, isBehind: () => true },
  });
  const messages: Message[] = [{ role: "user", content: [{ type: "text", text: "Begin." }] }];
  const { sending } = await desk.post(body(messages), { headers: named });
  expect(sending.sent?.fresh.length).toBeGreaterThan(0);
});
