import type { Wishes } from "../../src/exchange/index.ts";
import { emptyFacts } from "../support/render-facts.ts";
import { agedResult } from "./aging.ts";
import { forget, resultOf } from "./laws.ts";
import { RecorderRecords } from "./recorder-records.ts";
import { type Block, type Message, saysBlock } from "./seen-body.ts";
import {
  excuseOthers,
  models,
  newStream,
  newTalk,
  note,
  send,
  streamKeyOf,
  streamName,
  type Talk,
  textBlock,
  toolOf,
  type World,
  words,
} from "./world.ts";

/** Something a client or a user does. False: it cannot be done now. */
export type Act = (world: World, talk: Talk) => Promise<boolean>;

/** The model has spoken last, so the client may say something. */
function isAnswered({ history }: Talk): boolean {
  return history.at(-1)?.role === "assistant";
}

function hasTurns({ history }: Talk, count: number): boolean {
  return history.filter(({ role }) => role === "assistant").length >= count;
}

/** What the client says next: results where something was called, else words. */
export function nextMessage(world: World, talk: Talk): Message {
  const { random } = world;
  const calls = (talk.history.at(-1)?.content ?? []).filter(({ type }) => type === "tool_use");
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

function speak(world: World, talk: Talk): void {
  const message = nextMessage(world, talk);
  if (message.content.length > 1) note(world, "several blocks");
  talk.history = [...talk.history, message];
}

export const goOn: Act = async (world, talk) => {
  if (!isAnswered(talk) && talk.history.length > 0) return false;
  speak(world, talk);
  await send(world, talk);
  return true;
};

/** The answer does not arrive, and the client asks once more. */
const retry: Act = async (world, talk) => {
  if (talk.isDirect || (!isAnswered(talk) && talk.history.length > 0)) return false;
  speak(world, talk);
  await send(world, talk, { fate: world.random.pick(["lost", "cut"]) });
  if (world.random.below(3) === 0) await send(world, talk, { fate: "lost" });
  await send(world, talk);
  return true;
};

/** Other words at an earlier place; what came behind stays or goes. */
const edit: Act = async (world, talk) => {
  if (!isAnswered(talk) || !hasTurns(talk, 2)) return false;
  const { random } = world;
  const at = random.below(talk.history.length - 1);
  const other = talk.history.map((message, index) => (index === at ? edited(world, message) : message));
  // A talk without a name is known by its first words and their answer: with others it is another talk.
  const isEdited = JSON.stringify(other[at]) !== JSON.stringify(talk.history[at]);
  if (at <= 1 && isEdited && talk.style.naming === "none") startNew(talk);
  const mustStrip = !talk.stream.wasManaged || random.below(2) === 0;
  const history = mustStrip ? withoutReasoning(other, at) : other;
  if (random.below(2) === 0) {
    const end = history.findIndex(({ role }, index) => index >= at && role === "user");
    talk.history = history.slice(0, end + 1);
    if (talk.history.at(-1)?.role !== "user") return false;
  } else {
    talk.history = history;
    speak(world, talk);
  }
  await send(world, talk);
  return true;
};

function startNew(talk: Talk): void {
  talk.stream = newStream();
  forget(talk.account);
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

const rewind: Act = async (world, talk) => {
  if (!isAnswered(talk) || !hasTurns(talk, 2)) return false;
  const answers = talk.history.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
  const to = world.random.pick(answers.slice(0, -1));
  talk.history = talk.history.slice(0, to + 1);
  speak(world, talk);
  await send(world, talk);
  return true;
};

const regenerate: Act = async (world, talk) => {
  if (!isAnswered(talk)) return false;
  talk.history = talk.history.slice(0, -1);
  await send(world, talk);
  return true;
};

/** As Claude Code does it: a request beside the talk, then a new history with the summary. */
const compact: Act = async (world, talk) => {
  const isCode = talk.style.naming === "claude-code" || talk.style.naming === "asked-agent";
  if (!isCode || talk.isDirect || !isAnswered(talk) || !hasTurns(talk, 3)) return false;
  const before = talk.history.slice(0, -1);
  const last = before.at(-1);
  if (last === undefined) return false;
  const prompt = textBlock(`Summarize, please. ${words(world)}`);
  const messages = [...before.slice(0, -1), { ...last, content: [...last.content, prompt] }];
  await send(world, talk, { messages, purpose: "beside", wanted: { isSummary: true } });
  const summary = textBlock(`The talk so far: ${words(world)}`);
  talk.history = [{ role: "user", content: [summary, textBlock(words(world))] }];
  await send(world, talk);
  return true;
};

/** Two identical requests at once, each of which goes on. */
const twins: Act = async (world, talk) => {
  if (talk.isDirect || !isAnswered(talk) || world.talks.length > 6) return false;
  speak(world, talk);
  const { account } = talk;
  const twin = newTalk(world, { ...talk, account: { ...account, canon: new Map(account.canon) } });
  await Promise.all([send(world, talk), send(world, twin)]);
  return true;
};

const subAgent: Act = async (world, talk) => {
  const isCode = talk.style.naming === "claude-code" || talk.style.naming === "asked-agent";
  if (!isCode || talk.isDirect || world.talks.length > 6) return false;
  const { session, style, credential, system, tools } = talk;
  const agent = newTalk(world, { session, style, credential, system, tools, agent: `a${world.next()}` });
  return await goOn(world, agent);
};

const switchMode: Act = async (world, talk) => {
  if (talk.isDirect) return false;
  talk.mode = talk.mode === "auto" ? world.random.pick(["observe", "bypass"]) : "auto";
  excuseOthers(world, talk);
  return await goOn(world, talk);
};

const refreshCredential: Act = async (world, talk) => {
  if (talk.style.naming === "none" || talk.isDirect) return false;
  talk.credential = `key-${world.next()}`;
  return await goOn(world, talk);
};

const switchModel: Act = async (world, talk) => {
  excuseOthers(world, talk);
  talk.model = world.random.pick(world.random.below(2) === 0 ? models.bound : models.unbound);
  return await goOn(world, talk);
};

const count: Act = async (world, talk) => {
  if (talk.isDirect || !isAnswered(talk)) return false;
  const messages = [...talk.history, nextMessage(world, talk)];
  await send(world, talk, { messages, purpose: "beside", target: "/v1/messages/count_tokens" });
  return true;
};

/** A title or a classification, under the name of the talk. */
const askBeside: Act = async (world, talk) => {
  if (talk.isDirect) return false;
  const messages = [{ role: "user", content: [textBlock(`A title for: ${words(world)}`)] }];
  await send(world, talk, { messages, purpose: "beside", wanted: { withoutTools: true } });
  return true;
};

const changeTools: Act = async (world, talk) => {
  const { random } = world;
  const change = random.below(3);
  const name = `tool_${world.next()}`;
  if (change === 0) talk.tools = [...talk.tools, toolOf(name)];
  else if (change === 1) talk.tools = [...talk.tools, toolOf(name, { defer_loading: true })];
  else if (talk.tools.length > 1) removeTool(talk);
  else return false;
  note(world, ["tool added", "deferred tool added", "tool removed"][change] ?? "");
  stripIfWatched(talk);
  return await goOn(world, talk);
};

/** A tool that came late and was used belongs to the talk: the desk notices its going by a refusal. */
function removeTool(talk: Talk): void {
  const gone = talk.tools.at(-1);
  talk.tools = talk.tools.slice(0, -1);
  const isNamed = talk.history.some(({ content }) => content.some(({ name }) => name === gone?.["name"]));
  if (gone?.["defer_loading"] === true && isNamed) talk.account.excuses = 1;
}

const changeSystem: Act = async (world, talk) => {
  const [first = ""] = talk.system;
  talk.system = [first, `It is step ${world.next()}.`];
  stripIfWatched(talk);
  return await goOn(world, talk);
};

/** A client on its own knows that reasoning does not outlive such a change. */
function stripIfWatched(talk: Talk): void {
  if (!talk.stream.wasManaged) talk.history = withoutReasoning(talk.history, 0);
}

const idle: Act = async (world, talk) => {
  world.clock.advance(world.random.pick([6, 70]) * 60_000);
  return await goOn(world, talk);
};

const throughAperture: Act = async (world, talk) => {
  if (!talk.isDirect || !hasTurns(talk, 2)) return false;
  talk.isDirect = false;
  return await goOn(world, talk);
};

const beginDirect: Act = async (world) => {
  if (world.talks.length > 6) return false;
  const talk = newTalk(world, { isDirect: true });
  for (let turns = 1 + world.random.below(3); turns > 0; turns -= 1) await goOn(world, talk);
  return true;
};

/** Another process takes over. It may know everything, or too little, or nothing for a while. */
const restart: Act = async (world, talk) => {
  const { random, memory, kit } = world;
  if (memory.mode !== "knows") return false;
  // A log that is only late, or was killed, is the simulated memory's part.
  const faults = world.isRecorded ? ["none", "rejects"] : ["none", "none", "lost tail", "late", "rejects"];
  const fault = random.pick(faults);
  note(world, `restart, ${fault}`);
  kit.restart();
  world.wishes.clear();
  // What the user withheld lives in the desk only, so far.
  for (const { stream } of world.talks) {
    stream.isForgotten = true;
    stream.withheld.clear();
    for (const [start, instead] of stream.withheldCalls) stream.onceWithheld.set(start, instead);
    stream.withheldCalls.clear();
    stream.withheldUnits.clear();
    for (const says of [...stream.rewritten.keys(), ...stream.headed]) stream.shaken.add(resultOf(says));
    stream.shaken.delete("");
  }
  await memory.restart(fault === "lost tail" ? 1 + random.below(3) : 0);
  if (fault === "late" || fault === "rejects") memory.mode = fault;
  for (const one of world.talks) if (fault !== "none") one.account.excuses = 1;
  return await goOn(world, talk);
};

const memoryReturns: Act = async (world, talk) => {
  const { memory } = world;
  if (memory.mode === "knows") return false;
  memory.mode = "knows";
  // Everything since then was sent without knowing the past.
  for (const { account } of world.talks) account.excuses = 1;
  return await goOn(world, talk);
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
function chosenUnit(world: World, { history, stream }: Talk): Chosen | null {
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

function noteRewritten({ stream: { rewritten } }: Talk, { says }: Chosen, other: Block): void {
  rewritten.set(says, (rewritten.get(says) ?? new Set()).add(saysBlock("user", other) ?? ""));
}

function isWithheld({ stream: { withheld } }: Talk, { says }: Chosen): boolean {
  return [...withheld.keys()].some((words) => says.includes(words));
}

/** The user compresses a block and does not want to wait for it. */
const compressNow: Act = async (world, talk) => {
  const key = streamKeyOf(talk);
  const chosen = chosenUnit(world, talk);
  const isManaged = talk.account.last?.style.startsWith("managed") === true;
  if (key === null || chosen === null || !isAnswered(talk) || !isManaged || isWithheld(talk, chosen))
    return false;
  const block = talk.stream.blocks.get(chosen.says);
  const text = `shortened ${world.next()}`;
  if (block === undefined) return false;
  if (world.memory instanceof RecorderRecords) {
    const command = { verb: "compress", target: `#${block}`, level: "minimal" };
    if (!(await world.memory.commandNow(key, streamName(talk), command))) return false;
  } else {
    const levels = [{ block, as: "minimal", text, input: null, tokens: 3, reason: "" }] as const;
    world.kit.desk.updateWishes({ ...lastWishes(world, key), levels, isUrgent: true });
  }
  const { rewritten } = talk.stream;
  rewritten.set(chosen.says, rewritten.get(chosen.says) ?? new Set());
  excuseOthers(world, talk);
  return await goOn(world, talk);
};

/** The wishes that the planner has for a stream, without those that it applies only once. */
function lastWishes({ wishes }: World, streamKey: string): Wishes {
  const common = { streamKey, seq: 0, turn: 0, facts: emptyFacts, tokenRate: 1, headerNames: [] };
  const { isUrgent: _, ...last }: Wishes = wishes.get(streamKey) ?? { ...common, levels: [], held: [] };
  return { ...last, levels: [] };
}

export const withhold: Act = async (world, talk) => {
  const key = streamKeyOf(talk);
  const chosen = chosenUnit(world, talk);
  const { withheld, withheldUnits, wasManaged } = talk.stream;
  if (key === null || chosen === null || !wasManaged || talk.isDirect || !isAnswered(talk)) return false;
  if (talk.stream.isForgotten || talk.account.last === null || isWithheld(talk, chosen)) return false;
  const secret = wordPattern.exec(chosen.says)?.[0] ?? "";
  const instead = "[withheld by the user]";
  const other = inOtherWords(chosen, instead);
  withheld.set(secret, instead);
  const { callId } = chosen;
  if (callId !== null) talk.stream.withheldCalls.set(`result ${callId} `, instead);
  for (const { stream, account } of world.talks) if (stream === talk.stream) forget(account);
  withheldUnits.add(chosen.key);
  noteRewritten(talk, chosen, other);
  world.kit.desk.updateWishes({ ...lastWishes(world, key), withheld: [...withheldUnits] });
  speak(world, talk);
  await send(world, talk, { isEpoch: true });
  return true;
};

export const acts: readonly { readonly name: string; readonly weight: number; readonly act: Act }[] = [
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
