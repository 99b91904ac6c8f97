import { type Random, seededRandom } from "../../src/base/index.ts";
import { isCommandTool } from "../../src/commands/index.ts";
import type { PlannedRequest, Wishes } from "../../src/exchange/index.ts";
import { type Awareness, defaultAwareness } from "../../src/host/index.ts";
import type { ModelReply, ReplyBlock, ScriptedModel } from "../../src/testing/index.ts";
import { PlannerKit, type Posted, type PostOptions } from "../support/planner-kit.ts";
import { type SteppedClock, steppedClock } from "../support/stepped-clock.ts";
import { type Aging, agedInput, newAging } from "./aging.ts";
import { contentOf, passedOn, withEcho } from "./answer.ts";
import { NumberBook } from "./block-numbers.ts";
import { bodyOf, type Client, headersOf, type Style, type Wanted } from "./client.ts";
import { checkHidden, withHands } from "./command-calls.ts";
import { failLaw } from "./law-error.ts";
import { type Account, checkLaws, checkPassed, type Stream } from "./laws.ts";
import { RecorderRecords } from "./recorder-records.ts";
import { type Block, type Fields, type Message, nonce } from "./seen-body.ts";
import { refersTo, SentBook } from "./shown-units.ts";
import { type Memory, SimulatedRecords } from "./stream-records.ts";

/** One line of conversation between a client and the model. */
export type Conversation = Client & {
  stream: Stream;
  readonly account: Account;
  /** Set while the client does not go through Aperture yet. */
  isDirect: boolean;
  lastMs: number;
  /** What the planner calls its stream, once it has sent something for it. */
  line: string | null;
};

/** Everything one seed drives. */
export type World = {
  readonly isRecorded: boolean;
  /** Set where things grow old. */
  readonly aging: Aging | null;
  readonly random: Random;
  readonly clock: SteppedClock;
  readonly kit: PlannerKit;
  readonly records: Memory;
  /** The last wishes that the planner got, by stream. */
  readonly wishes: Map<string, Wishes>;
  readonly conversations: Conversation[];
  /** How the model is told of its context, from the next request on. */
  readonly told: { awareness: Awareness };
  readonly numbers: NumberBook;
  readonly sent: SentBook;
  /** What was sent, in short, to make sense of a failure. */
  readonly log: string[];
  /** How often what happened. */
  readonly tally: Map<string, number>;
  /** A number that was not used before. */
  readonly next: () => number;
};

export const models = {
  bound: ["claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-2"],
  unbound: ["claude-opus-4-8", "claude-sonnet-4-6"],
} as const;

/** What a world is like. Plain: nobody switches what the model is told, and it repeats nothing of ours. */
export type WorldKind = {
  readonly isRecorded: boolean;
  readonly isPlain: boolean;
  /** Whether results are long and grow stale, windows are small, and policy does what it does. */
  readonly isAged: boolean;
  /** Whether windows are full within a few turns, too. */
  readonly isCrowded?: boolean;
  /** Whether the model calls our tools; needs a real recorder. */
  readonly hasHands?: boolean;
};

export function openWorld(seed: number, kind: WorldKind): World {
  const { isRecorded, isPlain, isAged, isCrowded = false, hasHands = false } = kind;
  const random = seededRandom(seed);
  const clock = steppedClock(1_700_000_000_000);
  const aging = isAged ? newAging(random, isCrowded) : null;
  const records = isRecorded ? new RecorderRecords(aging, hasHands) : new SimulatedRecords();
  let [count, names] = [0, 0];
  const next = (): number => {
    count += 1;
    return count;
  };
  const newName = (): string => {
    names += 1;
    return `talk-${names}`;
  };
  const told = { awareness: defaultAwareness };
  const wishes = new Map<string, Wishes>();
  const kit = new PlannerKit({
    model: scripted({ random, next, isPlain, isAged, isCrowded, hasHands }),
    clock,
    ...(hasHands && records instanceof RecorderRecords ? { recorder: () => records.relayed() } : {}),
    core: { binding: "bound-models" },
    place: {
      nonceOf: () => nonce,
      newSessionName: newName,
      lookUpStream: (question) => {
        const record = records.remember(question);
        void record.then(
          (known) => known?.wishes && wishes.set(known.wishes.streamKey, known.wishes),
          () => undefined,
        );
        return record;
      },
      awareness: () => told.awareness,
      windowOf: () => aging?.window ?? 200_000,
      // A real recorder is given the time it needs on a busy machine.
      deadlineMs: isRecorded ? 5_000 : 2,
    },
  });
  if (records instanceof RecorderRecords)
    records.onWishes = (next) => {
      wishes.set(next.streamKey, next);
      kit.planner.updateWishes(next);
    };
  const kept = {
    conversations: [],
    log: [],
    tally: new Map(),
    numbers: new NumberBook(),
    sent: new SentBook(),
  };
  const world = { isRecorded, aging, random, clock, kit, records, wishes, next, told, ...kept };
  const conversations = 1 + random.below(3);
  for (let at = 0; at < conversations; at += 1) newConversation(world, {});
  return world;
}

export function note(world: World, what: string): void {
  world.tally.set(what, (world.tally.get(what) ?? 0) + 1);
}

export function newConversation(world: World, given: Partial<Conversation>): Conversation {
  const { random, next, conversations } = world;
  const isCrowded = world.aging?.isCrowded === true;
  const style = given.style ?? newStyle(random, isCrowded);
  const heavy = style.naming === "claude-code" || style.naming === "none" ? 52_000 : 9_000;
  const conversation: Conversation = {
    session: `session-${next()}`,
    style,
    agent: null,
    credential: "key-1",
    model: random.pick(random.below(3) === 0 ? models.unbound : models.bound),
    mode: "auto",
    tools: ["look", "run"].map((name) => toolOf(name)),
    system: [filler(`You are careful, number ${next()}.`, heavy), "Be brief."],
    history: [],
    stream: newStream(),
    account: { canon: new Map(), last: null, isFree: false, excuses: 0 },
    isDirect: false,
    lastMs: 0,
    line: null,
    ...given,
  };
  conversations.push(conversation);
  return conversation;
}

/** Conversations that share a stream may find its path changed by this one. */
export function excuseOthers({ conversations }: World, conversation: Conversation): void {
  for (const one of conversations)
    if (one !== conversation && one.stream === conversation.stream) one.account.excuses = 1;
}

export function newStream(): Stream {
  const withholding = { withheld: new Map(), withheldCalls: new Map(), withheldUnits: new Set<string>() };
  const before = {
    onceWithheld: new Map(),
    rewritten: new Map(),
    shaken: new Set<string>(),
    headed: new Set<string>(),
    keys: new Map(),
    blocks: new Map(),
  };
  return { wasManaged: false, isForgotten: false, ...withholding, ...before };
}

/** What is said in front would fill a small window by itself, unless somebody has asked to be managed. */
function newStyle(random: Random, isAsked: boolean): Style {
  return {
    naming: isAsked ? "asked" : random.pick(["asked", "asked", "asked-agent", "claude-code", "none"]),
    marks: random.pick(["last", "last", "last-two", "automatic", "none"]),
    lifetime: random.pick(["5m", "5m", "1h"]),
    system: random.pick(["list", "list", "string", "absent"]),
    order: random.pick(["messages-first", "messages-last"]),
    isStreamed: random.below(2) === 0,
    liberties: random.pick(["none", "harmless", "all", "all"]),
    retelling: { addsDefaults: random.below(2) === 0, glue: random.pick([null, "", "\n", "\n\n"]) },
  };
}

export function toolOf(name: string, over: Fields = {}): Fields {
  return { name, description: `To ${name}.`, input_schema: { type: "object", properties: {} }, ...over };
}

function filler(start: string, bytes: number): string {
  return start.padEnd(bytes, " Words that fill the window.");
}

/** Text that was never said before, with what tends to go wrong in texts. */
export function words({ random, next }: World): string {
  const odd = random.pick([
    "",
    "",
    ' "quoted"',
    "\nnext line",
    " Übergröße 🙂",
    ' {"cache_control":1}',
    " \\u2028",
  ]);
  return `word ${next()}.${odd}${" and so on".repeat(3 * random.below(8))}`;
}

export function textBlock(text: string): Block {
  return { type: "text", text };
}

type Scripting = Pick<World, "random" | "next"> &
  Pick<WorldKind, "isPlain" | "isAged" | "isCrowded" | "hasHands">;

/** A model that says something new each time, in one of the forms an answer may have. */
function scripted(scripting: Scripting): ScriptedModel {
  const { random, next, isPlain, isAged, isCrowded = false, hasHands = false } = scripting;
  const more = isCrowded ? " and what follows from it".repeat(40) : "";
  const thinking = (): ReplyBlock => ({ type: "thinking", thinking: `thought ${next()}${more}` });
  return (request): ModelReply => {
    const text = (): ReplyBlock => {
      const said = `said ${next()}${random.pick(["", "\n", "."])}`;
      const repeats = !isPlain && random.below(6) === 0;
      return { type: "text", text: repeats ? withEcho(said, request, random) : said };
    };
    // Without hands nobody would hide a call of ours from the client.
    const names = request.tools.map((tool) => String(tool["name"])).filter((name) => !isCommandTool(name));
    const call = (): ReplyBlock => ({
      type: "tool_use",
      name: random.pick(names),
      input: isAged ? agedInput(random, next) : { n: next(), of: "it" },
    });
    const speaking = { request, random, next, thinking, text, call: names.length > 0 ? call : null };
    const handed = hasHands ? withHands(speaking) : null;
    if (handed !== null) return { content: handed };
    const spoken: readonly (() => readonly ReplyBlock[])[] = [
      () => [thinking(), text()],
      () => [text()],
      () => [thinking(), text(), text()],
      () => [{ type: "redacted_thinking" }, text()],
      () => [thinking(), thinking(), text()],
    ];
    const acting: readonly (() => readonly ReplyBlock[])[] = [
      () => [thinking(), call()],
      () => [thinking(), text(), call(), call()],
      () => [call(), call(), call()],
      () => [thinking(), text(), thinking(), call()],
      () => [{ type: "redacted_thinking" }, call()],
    ];
    const isActing = names.length > 0 && random.below(5) < (isCrowded ? 4 : 3);
    return { content: random.pick(isActing ? acting : spoken)() };
  };
}

export type SendOptions = {
  readonly messages?: readonly Message[];
  readonly purpose?: "turn" | "beside";
  readonly isEpoch?: boolean;
  readonly target?: string;
  /** Lost: the answer is not heard. Cut: only its beginning is. */
  readonly fate?: "heard" | "lost" | "cut";
  readonly wanted?: Partial<Wanted>;
};

/** Sends what the client has, looks whether every law was kept, and takes the answer in. */
export async function send(
  world: World,
  conversation: Conversation,
  options: SendOptions = {},
): Promise<Posted | null> {
  const { random, kit, clock } = world;
  const { messages = conversation.history, purpose = "turn", fate = "heard", isEpoch = false } = options;
  const mayRewrite = conversation.stream.wasManaged;
  const wire = bodyOf(conversation, { messages, random, mayRewrite, ...options.wanted });
  const where: PostOptions = {
    headers: headersOf(conversation),
    credential: conversation.credential,
    ...(options.target === undefined ? {} : { target: options.target }),
  };
  const isTurn = purpose === "turn";
  if (conversation.isDirect) {
    const answer = await kit.direct(wire, where);
    if (answer.status !== 200) throw new Error(`the simulated client is wrong: ${answer.problem?.message}`);
    note(world, "sent direct");
    takeAnswer(conversation, Buffer.concat(answer.chunks));
    return null;
  }
  const idleMs = clock.now() - conversation.lastMs;
  const isCold = conversation.lastMs > 0 && idleMs > 5 * 60_000;
  const events = fate === "cut" ? { received: 1 + random.below(6) } : {};
  const nowMs = clock.now();
  const posted = await kit.post(wire, { ...where, ...events, isLost: fate === "lost" });
  note(world, `sent ${posted.sending.rendering}${isTurn ? "" : " beside"}`);
  if (posted.attempts.length > 1) {
    note(world, "sent twice");
    // The ledger begins anew for all who share it.
    for (const one of world.conversations)
      if (one.stream === conversation.stream && one !== conversation) one.account.excuses = 1;
  }
  const ways = posted.attempts.map(({ sending }) => wayOf(sending)).join(", then ");
  world.log.push(
    `${conversation.session} ${conversation.model} ${conversation.mode} ${purpose} ${fate}: ${ways}`,
  );
  const received = fate === "lost" ? null : Buffer.concat(posted.answer.chunks.slice(0, events.received));
  await noteSent(world, posted, received);
  conversation.line = posted.sending.sent?.streamKey ?? conversation.line;
  const { stream, account } = conversation;
  world.sent.note(posted);
  const { sent } = posted.sending;
  for (const { as, bytes, origin } of sent?.fresh ?? []) {
    if (as !== "original") note(world, `shown ${as}`);
    else if (origin === "client" && refersTo(bytes)) note(world, "shown by reference");
  }
  if (sent !== null && sent.epoch !== null) {
    note(world, `epoch, ${sent.epoch.reason}`);
    note(world, `means, ${sent.epoch.means}`);
    excuseOthers(world, conversation);
  }
  for (const { sending } of posted.rounds) note(world, `round, ${sending.rendering}`);
  const path = sent === null ? [] : world.sent.pathOf(sent);
  const asked = { client: conversation, messages, wire, purpose, nowMs, isEpoch, isCold };
  const look = { ...asked, stream, account, posted, path };
  if (isTurn) conversation.lastMs = nowMs;
  if (stream.isForgotten && (isTurn || isTakenForTurn(conversation, messages)))
    beginAnew(world, conversation, messages);
  checkLaws(look);
  if (world.records instanceof RecorderRecords && sent?.isTurn === true && posted.answer.status === 200) {
    const { streamKey: line, fresh } = sent;
    await world.records.audit(line, streamName(conversation), { path, fresh });
  }
  if (isTurn && fate === "heard" && posted.answer.status === 200)
    takeAnswer(conversation, posted.body, posted.sending.ownLineFilter);
  return posted;
}

function wayOf({ rendering, sent }: PlannedRequest): string {
  const reason = sent?.epoch?.reason;
  return reason === undefined ? rendering : `${rendering} (${reason})`;
}

/** Whoever remembers is told, and what is called by a number is looked at. */
async function noteSent(
  { records, numbers, conversations }: World,
  posted: Posted,
  received: Buffer | null,
): Promise<void> {
  await records.note(posted, received);
  numbers.learn(conversations.map(({ stream }) => stream));
  const calling = numbers.check(posted, received);
  if (records instanceof RecorderRecords) await records.check(calling);
  else if (calling.named.length > 0)
    failLaw("numbers", `a header names #${calling.named[0]}, which nobody has`, "");
}

/**
 * The first turns after a restart. A request without an answer in it is taken for a new conversation, so the
 * log is not asked and the past is lost. As long as the log cannot answer, each request stands for itself.
 */
function beginAnew(
  { conversations, records }: World,
  conversation: Conversation,
  messages: readonly Message[],
): void {
  const { stream } = conversation;
  const isFirst = !messages.some(({ role }) => role === "assistant");
  if (isFirst)
    for (const { stream: other, account } of conversations) if (other === stream) account.excuses = 1;
  stream.isForgotten = !isFirst && records.mode !== "knows";
  if (isJoined(conversation, messages)) conversation.account.excuses = 1;
  if (stream.isForgotten) conversation.account.excuses = 1;
}

/** Only of agents it is known that they ask beside their conversation under its name. */
function isTakenForTurn({ style }: Conversation, messages: readonly Message[]): boolean {
  return style.naming === "asked" && !messages.some(({ role }) => role === "assistant");
}

/**
 * An unnamed conversation is found by an exact answer. A client that joins texts has none, nor has one that
 * got only a part of an answer.
 */
function isJoined(
  { style: { naming, liberties, retelling } }: Conversation,
  messages: readonly Message[],
): boolean {
  if (naming !== "none") return false;
  const joins = liberties === "all" && retelling.glue !== null;
  const isWhole = ({ content }: Message): boolean => {
    const texts = content.filter(({ type }) => type === "text");
    const isText = texts.some((text) => !stripped.has(text)) && (!joins || texts.length === 1);
    return content.some(({ type }) => type === "tool_use") || isText;
  };
  return !messages.some((message) => message.role === "assistant" && isWhole(message));
}

/** Texts that lines of ours were taken out of. */
const stripped = new WeakSet<Block>();

function takeAnswer(
  conversation: Conversation,
  body: Buffer,
  strips: PlannedRequest["ownLineFilter"] = null,
): void {
  const { isStreamed } = conversation.style;
  const content = contentOf(passedOn(body, strips, isStreamed), isStreamed);
  for (const [at, { text }] of contentOf(body, isStreamed).entries()) {
    const got = content[at];
    if (got !== undefined && got["text"] !== text) stripped.add(got);
  }
  checkPassed(content);
  checkHidden(content);
  conversation.history = [...conversation.history, { role: "assistant", content }];
}

/** The name of its stream in the log. */
export function streamName({ agent }: Conversation): string {
  return agent === null ? "main" : `agent ${agent}`;
}

/** The key the planner knows a named conversation's stream by. */
export function streamKeyOf({ session, style, agent }: Conversation): string | null {
  if (style.naming === "none") return null;
  const client = style.naming === "asked" ? "unknown" : "claude-code";
  return JSON.stringify(["local", "anthropic", client, session, agent === null ? null : `agent ${agent}`]);
}
