import { canonicalJson, type Json } from "../../src/base/index.ts";
import { isCommandTool } from "../../src/commands/index.ts";
import { isOwnLine } from "../../src/notes/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { clearedCalls } from "../support/cleared-calls.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const noAnswerText = anthropic.traits.noAnswerText;

/** The mark of every line of ours in a simulated world. */
export const nonce = "k7f3q";

export type Fields = { readonly [key: string]: Json };
export type Block = Fields & { readonly type: string };
export type Message = { readonly role: string; readonly content: readonly Block[] };

/** A unit of a body, as a reader sees it who knows nothing of the ledger. */
export type SeenUnit = {
  readonly section: "tools" | "system" | "messages";
  /** Without marks; a change of the message around it is a change too. */
  readonly bytes: string;
  /** What it says, however it is written; null for reasoning. */
  readonly says: string | null;
  /** Whether it begins a message. */
  readonly opens: boolean;
  readonly isOwn: boolean;
  /** Whether it is a call of our tools, or what came of one: no client knows of it. */
  readonly isHidden: boolean;
  /** What a text says, as it is written. */
  readonly text: string;
  /** The block itself, without marks and without the message around it. */
  readonly block: string;
};
export type SeenBody = {
  readonly model: string;
  readonly units: readonly SeenUnit[];
  readonly marks: number;
  /** The calls whose results the provider is asked to leave out. */
  readonly cleared: ReadonlySet<string>;
};

type Placed = Pick<SeenUnit, "section" | "says" | "opens"> & {
  readonly role: string;
  readonly block: Fields;
  /** What the message says besides its content. */
  readonly around: string;
};

/** Reads a body from its JSON, without any of the code under test. */
export function seeBody(text: string): SeenBody {
  const body = JSON.parse(text) as Fields;
  // A deferred tool belongs to no path: it may come at any time.
  const tools = listOf(body["tools"]).filter((tool) => tool["defer_loading"] !== true);
  const none = { opens: false, around: "", role: "system" };
  const placed: readonly Placed[] = [
    ...tools.map((block): Placed => ({ section: "tools", says: `tool ${block["name"]}`, block, ...none })),
    ...blocksOf(body["system"]).map(
      (block): Placed => ({ section: "system", says: saysBlock("system", block), block, ...none }),
    ),
    ...listOf(body["messages"]).flatMap(messageUnits),
  ];
  const calls = new Set(placed.filter(({ block }) => isOwnCall(block)).map(({ block }) => block["id"]));
  const units = placed.map(({ section, says, opens, role, block, around }) => {
    const isHidden = isOwnCall(block) || calls.has(block["tool_use_id"] ?? null);
    const unmarked = JSON.stringify(withoutMarks(block));
    const text = String(block["text"] ?? "");
    // A model may repeat a line of ours, and one may stand behind what a user said.
    const isLine = role !== "assistant" && isMarked(block["text"]) && !isLoweredText(text);
    const isOwn = isHidden || isLine;
    return { section, says, opens, bytes: `${around}${unmarked}`, isOwn, isHidden, text, block: unmarked };
  });
  return { model: String(body["model"]), units, marks: marksIn(body), cleared: clearedCalls(body) };
}

function isOwnCall({ type, name }: Fields): boolean {
  return type === "tool_use" && typeof name === "string" && isCommandTool(name);
}

function messageUnits(message: Fields): readonly Placed[] {
  const { content, role = null, ...rest } = message;
  return blocksOf(content).map((block, at) => ({
    section: "messages",
    says: saysBlock(String(role), block),
    opens: at === 0,
    role: String(role),
    block,
    around: at === 0 ? `${canonicalJson({ role, ...rest })} ` : "",
  }));
}

/** A short name of what a block says, the same for every form a client may write it in. */
export function saysBlock(role: string, block: Block): string | null {
  switch (block.type) {
    case "thinking":
    case "redacted_thinking":
      return null;
    case "tool_use":
      return `call ${block["id"]}`;
    case "tool_result": {
      // A header of ours may stand in it.
      const said = blocksOf(block["content"]).filter(({ text }) => !isMarked(text));
      const parts = said.map((part) => String(part["text"]).trim());
      return `result ${block["tool_use_id"]} ${parts.join("|")}`;
    }
    default: {
      // Between texts that a client has joined any space may stand.
      const text = String(block["text"]);
      // What stands for an answer of which the client knows nothing.
      if (role === "assistant" && text.trim() === noAnswerText) return null;
      return `${role} ${role === "assistant" ? withoutEchoes(text).replaceAll(/\s/g, "") : text.trim()}`;
    }
  }
}

const lowered = /\[\S+ #\d+ (?:[a-z]+, whole |\S+ \S+ pruned ).* -> expand #\d+\]$/;

/** What somebody said that is shown shorter: a line of ours stands behind it, or in its place. */
function isLoweredText(text: string): boolean {
  return lowered.test(text);
}

function isMarked(text: Json | undefined): boolean {
  return typeof text === "string" && text.includes(nonce);
}

/** Its first word is one of ours, in capitals: a sentence may begin with a single one. */
const manifestRow = /^(?:- )?(?:[A-Z]{2,}[ :]|\[user-selected\]|<\/)/;

/** What a model says without the lines of ours that it repeats: the client does not get them. */
function withoutEchoes(text: string): string {
  let isBehind = false;
  const lines = text.split("\n").flatMap((line) => {
    isBehind = isMarked(line) || (isBehind && manifestRow.test(line));
    return isBehind ? beforeEcho(line) : [line];
  });
  return lines.join("\n");
}

/** A client that joins texts with nothing in between writes a line of ours behind words of the model. */
function beforeEcho(line: string): readonly string[] {
  if (isOwnLine(line, nonce)) return [];
  for (const { index } of line.matchAll(/\[|---|###|</g))
    if (isOwnLine(line.slice(index), nonce)) return [line.slice(0, index)];
  return [];
}

/** One thing said, with where it ends among the units. */
export type SpokenText = { readonly says: string; readonly end: number };

/**
 * What is said, in order. Texts of one answer are one thing, because clients join them; what is hidden from
 * them inside an answer does not part it.
 */
export function textsIn(units: readonly SeenUnit[]): readonly SpokenText[] {
  const said: SpokenText[] = [];
  let [goesOn, isBridged] = [false, false];
  for (const [end, { section, says, isOwn, isHidden, opens }] of units.entries()) {
    if (section !== "messages") continue;
    if (isHidden) {
      isBridged = true;
      continue;
    }
    goesOn = goesOn && !isOwn && (!opens || isBridged);
    isBridged = false;
    if (isOwn || says === null) continue;
    const last = said.at(-1);
    if (last === undefined || !goesOn || !isModelText(says)) said.push({ says, end });
    else said[said.length - 1] = { says: `${last.says}${says.slice(modelText.length)}`, end };
    goesOn = isModelText(says);
  }
  return said;
}

const modelText = "assistant ";

function isModelText(says: string): boolean {
  return says.startsWith(modelText);
}

/** The units of what a client means to say, in whatever form it writes them. */
export function unitsOf(messages: readonly Message[]): readonly SeenUnit[] {
  return messages
    .flatMap(({ role, content }) => messageUnits({ role, content: [...content] }))
    .map(({ section, says, opens, block }) => {
      const text = JSON.stringify(block);
      const isOwn = { isOwn: false, isHidden: false };
      return { section, says, opens, bytes: text, ...isOwn, text: "", block: text };
    });
}

export function blocksOf(content: Json | undefined): readonly Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content) as readonly Block[]; // the strict upstream has seen every block
}

function listOf(value: Json | undefined): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

function withoutMarks({ cache_control: _mark, ...block }: Fields): Fields {
  const { content } = block;
  return Array.isArray(content) ? { ...block, content: listOf(content).map(withoutMarks) } : block;
}

/** A mark is a field; in a text that speaks of one the quotes are escaped. */
function marksIn(value: Json): number {
  return JSON.stringify(value).split('"cache_control":{').length - 1;
}
