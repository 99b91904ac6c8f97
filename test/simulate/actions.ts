import type { Wishes } from "../../src/exchange/index.ts";
import { emptyFacts } from "../support/render-facts.ts";
import { agedResult } from "./aging.ts";
import { forget, resultOf } from "./laws.ts";
import { RecorderRecords } from "./recorder-records.ts";
import { type Block, type Message, saysBlock } from "./seen-body.ts";
import {
  type Conversation,
  excuseOthers,
  models,
  newConversation,
  newStream,
  note,
  send,
  streamKeyOf,
  streamName,
  textBlock,
  toolOf,
  type World,
  words,
} from "./world.ts";

/** Something a client or a user does. False: it cannot be done now. */
export type Action = (world: World, conversation: Conversation) => Promise<boolean>;

/** The model has spoken last, so the client may say something. */
function isAnswered({ history }: Conversation): boolean {
  return history.at(-1)?.role === "assistant";
}

function hasTurns({ history }: Conversation, count: number): boolean {
  return history.filter(({ role }) => role === "assistant").length >= count;
}

/** What the client says next: results where something was called, else words. */
export function nextMessage(world: World, conversation: Conversation): Message {
  const { random } = world;
  const calls = (conversation.history.at(-1)?.content ?? []).filter(({ type }) => type === "tool_use");
  const results = calls.map((call): Block => {
    const said = words(world);
    const text = world.aging === null ? said : agedResult(world, call, said);
    const content = random.below(2) === 0 ? text : [textBlock(text)];
    return { type: "tool_result", tool_use_id: String(call["id"]), content };
  });
  const texts = Array.from({ length: 1 + random.below(2) }, () => textBlock(sayWords(world)));
  if (results.length === 0) return { role: "user", content: texts };
  return { role: "user", content: random.below(4) === 0 ? [...results, ...texts] : results };
}

/** Now and then what was said before: short answers repeat. */
function sayWords(world: World): string {
  return world.random.below(6) === 0 ? "Go on." : words(world);
}

function speak(world: World, conversation: Conversation): void {
  const message = nextMessage(world, conversation);
  if (message.content.length > 1) note(world, "several blocks");
  conversation.history = [...conversation.history, message];
}

export const goOn: Action = async (world, conversation) => {
  if (!isAnswered(conversation) && conversation.history.length > 0) return false;
  speak(world, conversation);
  await send(world, conversation);
  return true;
};

/** The answer does not arrive, and the client asks once more. */
const retry: Action = async (world, conversation) => {
  if (conversation.isDirect || (!isAnswered(conversation) && conversation.history.length > 0)) return false;
  speak(world, conversation);
  await send(world, conversation, { fate: world.random.pick(["lost", "cut"]) });
  if (world.random.below(3) === 0) await send(world, conversation, { fate: "lost" });
  await send(world, conversation);
  return true;
};

/** Other words at an earlier place; what came behind stays or goes. */
const edit: Action = async (world, conversation) => {
  if (!isAnswered(conversation) || !hasTurns(conversation, 2)) return false;
  const { random } = world;
  const at = random.below(conversation.history.length - 1);
  const other = conversation.history.map((message, index) =>
    index === at ? edited(world, message) : message,
  );
  // An unnamed conversation is recognised by its first prompt and answer: if they change, it is another one.
  const isEdited = JSON.stringify(other[at]) !== JSON.stringify(conversation.history[at]);
  if (at <= 1 && isEdited && conversation.style.naming === "none") startNew(conversation);
  const mustStrip = !conversation.stream.wasManaged || random.below(2) === 0;
  const history = mustStrip ? withoutReasoning(other, at) : other;
  if (random.below(2) === 0) {
    const end = history.findIndex(({ role }, index) => index >= at && role === "user");
    conversation.history = history.slice(0, end + 1);
    if (conversation.history.at(-1)?.role !== "user") return false;
  } else {
    conversation.history = history;
    speak(world, conversation);
  }
  await send(world, conversation);
  return true;
};

function startNew(conversation: Conversation): void {
  conversation.stream = newStream();
  forget(conversation.account);
}

function edited(world: World, { role, content }: Message): Message {
  const places = content.flatMap(({ type }, at) => (type === "text" || type === "tool_result" ? [at] : []));
  const chosen = places.length === 0 ? -1 : world.random.pick(places);
  return {
    role,
    content: content.map((block, at): Block => {
      if (at !== chosen) return block;
      return { ...block, [block.type === "text" ? "text" : "content"]: `edited ${words(world)}` };
    }),
  };
}

function withoutReasoning(history: readonly Message[], from: number): readonly Message[] {
  return history.map(({ role, content }, index) => {
    const spoken = content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking");
    return index < from ? { role, content } : { role, content: spoken };
  });
}

const rewind: Action = async (world, conversation) => {
  if (!isAnswered(conversation) || !hasTurns(conversation, 2)) return false;
  const answers = conversation.history.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  const to = world.random.pick(answers.slice(0, -1));
  conversation.history = conversation.history.slice(0, to + 1);
  speak(world, conversation);
  await send(world, conversation);
  return true;
};

const regenerate: Action = async (world, conversation) => {
  if (!isAnswered(conversation)) return false;
  conversation.history = conversation.history.slice(0, -1);
  await send(world, conversation);
  return true;
};

/** As Claude Code does it: a request beside the conversation, then a new history with the summary. */
const compact: Action = async (world, conversation) => {
  const isCode = conversation.style.naming === "claude-code" || conversation.style.naming === "asked-agent";
  if (!isCode || conversation.isDirect || !isAnswered(conversation) || !hasTurns(conversation, 3))
    return false;
  const before = conversation.history.slice(0, -1);
  const last = before.at(-1);
  if (last === undefined) return false;
  const prompt = textBlock(`Summarize, please. ${words(world)}`);
  const messages = [...before.slice(0, -1), { ...last, content: [...last.content, prompt] }];
  await send(world, conversation, { messages, purpose: "beside", wanted: { isSummary: true } });
  const summary = textBlock(`The talk so far: ${words(world)}`);
  conversation.history = [{ role: "user", content: [summary, textBlock(words(world))] }];
  await send(world, conversation);
  return true;
};

/** Two identical requests at once, each of which goes on. */
const twins: Action = async (world, conversation) => {
  if (conversation.isDirect || !isAnswered(conversation) || world.conversations.length > 6) return false;
  speak(world, conversation);
  const { account } = conversation;
  const twin = newConversation(world, {
    ...conversation,
    account: { ...account, canon: new Map(account.canon) },
  });
  await Promise.all([send(world, conversation), send(world, twin)]);
  return true;
};

const subAgent: Action = async (world, conversation) => {
  const isCode = conversation.style.naming === "claude-code" || conversation.style.naming === "asked-agent";
  if (!isCode || conversation.isDirect || world.conversations.length > 6) return false;
  const { session, style, credential, system, tools } = conversation;
  const agent = newConversation(world, {
    session,
    style,
    credential,
    system,
    tools,
    agent: `a${world.next()}`,
  });
  return await goOn(world, agent);
};

const switchMode: Action = async (world, conversation) => {
  if (conversation.isDirect) return false;
  conversation.mode = conversation.mode === "auto" ? world.random.pick(["observe", "bypass"]) : "auto";
  excuseOthers(world, conversation);
  return await goOn(world, conversation);
};

const refreshCredential: Action = async (world, conversation) => {
  if (conversation.style.naming === "none" || conversation.isDirect) return false;
  conversation.credential = `key-${world.next()}`;
  return await goOn(world, conversation);
};

const switchModel: Action = async (world, conversation) => {
  excuseOthers(world, conversation);
  conversation.model = world.random.pick(world.random.below(2) === 0 ? models.bound : models.unbound);
  return await goOn(world, conversation);
};

const count: Action = async (world, conversation) => {
  if (conversation.isDirect || !isAnswered(conversation)) return false;
  const messages = [...conversation.history, nextMessage(world, conversation)];
  await send(world, conversation, { messages, purpose: "beside", target: "/v1/messages/count_tokens" });
  return true;
};

/** A title or a classification, under the name of the conversation. */
const askBeside: Action = async (world, conversation) => {
  if (conversation.isDirect) return false;
  const messages = [{ role: "user", content: [textBlock(`A title for: ${words(world)}`)] }];
  await send(world, conversation, { messages, purpose: "beside", wanted: { withoutTools: true } });
  return true;
};

const changeTools: Action = async (world, conversation) => {
  const { random } = world;
  const change = random.below(3);
  const name = `tool_${world.next()}`;
  if (change === 0) conversation.tools = [...conversation.tools, toolOf(name)];
  else if (change === 1) conversation.tools = [...conversation.tools, toolOf(name, { defer_loading: true })];
  else if (conversation.tools.length > 1) removeTool(conversation);
  else return false;
  note(world, ["tool added", "deferred tool added", "tool removed"][change] ?? "");
  stripIfWatched(conversation);
  return await goOn(world, conversation);
};

/** The planner learns that a used deferred tool was removed only from the upstream's refusal. */
function removeTool(conversation: Conversation): void {
  const gone = conversation.tools.at(-1);
  conversation.tools = conversation.tools.slice(0, -1);
  const isNamed = conversation.history.some(({ content }) =>
    content.some(({ name }) => name === gone?.["name"]),
  );
  if (gone?.["defer_loading"] === true && isNamed) conversation.account.excuses = 1;
}

const changeSystem: Action = async (world, conversation) => {
  const [first = ""] = conversation.system;
  conversation.system = [first, `It is step ${world.next()}.`];
  stripIfWatched(conversation);
  return await goOn(world, conversation);
};

/** A client on its own knows that reasoning does not outlive such a change. */
function stripIfWatched(conversation: Conversation): void {
  if (!conversation.stream.wasManaged) conversation.history = withoutReasoning(conversation.history, 0);
}

const idle: Action = async (world, conversation) => {
  world.clock.advance(world.random.pick([6, 70]) * 60_000);
  return await goOn(world, conversation);
};

const throughAperture: Action = async (world, conversation) => {
  if (!conversation.isDirect || !hasTurns(conversation, 2)) return false;
  conversation.isDirect = false;
  return await goOn(world, conversation);
};

const beginDirect: Action = async (world) => {
  if (world.conversations.length > 6) return false;
  const conversation = newConversation(world, { isDirect: true });
  for (let turns = 1 + world.random.below(3); turns > 0; turns -= 1) await goOn(world, conversation);
  return true;
};

/** Another process takes over. It may know everything, or too little, or nothing for a while. */
const restart: Action = async (world, conversation) => {
  const { random, records, kit } = world;
  if (records.mode !== "knows") return false;
  // A log that is only late, or was killed, is the simulated memory's part.
  const faults = world.isRecorded ? ["none", "rejects"] : ["none", "none", "lost tail", "late", "rejects"];
  const fault = random.pick(faults);
  note(world, `restart, ${fault}`);
  kit.restart();
  world.wishes.clear();
  // What the user withheld lives in the planner only, so far.
  for (const { stream } of world.conversations) {
    stream.isForgotten = true;
    stream.withheld.clear();
    for (const [start, instead] of stream.withheldCalls) stream.onceWithheld.set(start, instead);
    stream.withheldCalls.clear();
    stream.withheldUnits.clear();
    for (const says of [...stream.rewritten.keys(), ...stream.headed]) stream.shaken.add(resultOf(says));
    stream.shaken.delete("");
  }
  await records.restart(fault === "lost tail" ? 1 + random.below(3) : 0);
  if (fault === "late" || fault === "rejects") records.mode = fault;
  for (const one of world.conversations) if (fault !== "none") one.account.excuses = 1;
  return await goOn(world, conversation);
};

const memoryReturns: Action = async (world, conversation) => {
  const { records } = world;
  if (records.mode === "knows") return false;
  records.mode = "knows";
  // Everything since then was sent without knowing the past.
  for (const { account } of world.conversations) account.excuses = 1;
  return await goOn(world, conversation);
};

/** A word that stands in one text only. */
const wordPattern = /word \d+\./;

type Chosen = {
  readonly key: string;
  readonly says: string;
  readonly block: Block;
  readonly callId: string | null;
};

/** Something the user said that was sent, with the key the ledger has for it. */
function chosenUnit(world: World, { history, stream }: Conversation): Chosen | null {
  const blocks = history.flatMap(({ role, content }) => (role === "user" ? content : []));
  const found = blocks.flatMap((block): readonly Chosen[] => {
    const says = saysBlock("user", block) ?? "";
    const key = stream.keys.get(says);
    const callId = block.type === "tool_result" ? String(block["tool_use_id"]) : null;
    return key !== undefined && wordPattern.test(says) ? [{ key, says, block, callId }] : [];
  });
  return found.length === 0 ? null : world.random.pick(found);
}

function inOtherWords({ block }: Chosen, text: string): Block {
  if (block.type === "text") return textBlock(text);
  return { type: "tool_result", tool_use_id: String(block["tool_use_id"]), content: text };
}

function noteRewritten({ stream: { rewritten } }: Conversation, { says }: Chosen, other: Block): void {
  rewritten.set(says, (rewritten.get(says) ?? new Set()).add(saysBlock("user", other) ?? ""));
}

function isWithheld({ stream: { withheld } }: Conversation, { says }: Chosen): boolean {
  return [...withheld.keys()].some((words) => says.includes(words));
}

/** The user compresses a block and does not want to wait for it. */
const compressNow: Action = async (world, conversation) => {
  const key = streamKeyOf(conversation);
  const chosen = chosenUnit(world, conversation);
  const isManaged = conversation.account.last?.style.startsWith("managed") === true;
  if (
    key === null ||
    chosen === null ||
    !isAnswered(conversation) ||
    !isManaged ||
    isWithheld(conversation, chosen)
  )
    return false;
  const block = conversation.stream.blocks.get(chosen.says);
  const text = `shortened ${world.next()}`;
  if (block === undefined) return false;
  if (world.records instanceof RecorderRecords) {
    const command = { verb: "compress", target: `#${block}`, level: "minimal" };
    if (!(await world.records.commandNow(key, streamName(conversation), command))) return false;
  } else {
    const levels = [{ block, as: "minimal", text, input: null, tokens: 3, reason: "" }] as const;
    world.kit.planner.updateWishes({ ...lastWishes(world, key), levels, isUrgent: true });
  }
  const { rewritten } = conversation.stream;
  rewritten.set(chosen.says, rewritten.get(chosen.says) ?? new Set());
  excuseOthers(world, conversation);
  return await goOn(world, conversation);
};

/** The wishes that the planner has for a stream, without those that it applies only once. */
function lastWishes({ wishes }: World, streamKey: string): Wishes {
  const common = { streamKey, seq: 0, turn: 0, facts: emptyFacts, tokenRate: 1, headerNames: [] };
  const { isUrgent: _, ...last }: Wishes = wishes.get(streamKey) ?? { ...common, levels: [], held: [] };
  return { ...last, levels: [] };
}

export const withhold: Action = async (world, conversation) => {
  const key = streamKeyOf(conversation);
  const chosen = chosenUnit(world, conversation);
  const { withheld, withheldUnits, wasManaged } = conversation.stream;
  if (key === null || chosen === null || !wasManaged || conversation.isDirect || !isAnswered(conversation))
    return false;
  if (
    conversation.stream.isForgotten ||
    conversation.account.last === null ||
    isWithheld(conversation, chosen)
  )
    return false;
  const secret = wordPattern.exec(chosen.says)?.[0] ?? "";
  const instead = "[withheld by the user]";
  const other = inOtherWords(chosen, instead);
  withheld.set(secret, instead);
  const { callId } = chosen;
  if (callId !== null) conversation.stream.withheldCalls.set(`result ${callId} `, instead);
  for (const { stream, account } of world.conversations) if (stream === conversation.stream) forget(account);
  withheldUnits.add(chosen.key);
  noteRewritten(conversation, chosen, other);
  world.kit.planner.updateWishes({ ...lastWishes(world, key), withheld: [...withheldUnits] });
  speak(world, conversation);
  await send(world, conversation, { isEpoch: true });
  return true;
};

export const clientActions: readonly {
  readonly name: string;
  readonly weight: number;
  readonly act: Action;
}[] = [
  { name: "go on", weight: 40, act: goOn },
  { name: "retry", weight: 6, act: retry },
  { name: "edit", weight: 5, act: edit },
  { name: "rewind", weight: 4, act: rewind },
  { name: "regenerate", weight: 4, act: regenerate },
  { name: "compact", weight: 6, act: compact },
  { name: "twins", weight: 3, act: twins },
  { name: "sub-agent", weight: 3, act: subAgent },
  { name: "mode", weight: 5, act: switchMode },
  { name: "credential", weight: 2, act: refreshCredential },
  { name: "model", weight: 4, act: switchModel },
  { name: "count", weight: 4, act: count },
  { name: "beside", weight: 3, act: askBeside },
  { name: "tools", weight: 4, act: changeTools },
  { name: "system", weight: 2, act: changeSystem },
  { name: "idle", weight: 3, act: idle },
  { name: "begin direct", weight: 3, act: beginDirect },
  { name: "through Aperture", weight: 10, act: throughAperture },
  { name: "restart", weight: 4, act: restart },
  { name: "memory returns", weight: 12, act: memoryReturns },
  { name: "compress now", weight: 4, act: compressNow },
  { name: "withhold", weight: 4, act: withhold },
];
