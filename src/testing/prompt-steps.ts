import { isObject, type JsonObject, parseJsonText } from "./json-text.ts";
import type { ParsedMessage } from "./parsed-request.ts";

/** The actions of an agent in one turn. */
export type AgentStep = {
  readonly say?: string;
  /** Calls made in parallel. */
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[];
};

/** The steps that a prompt spells out in its lines. Text before a call belongs to the step of the call. */
export function stepsInPrompt(text: string): readonly AgentStep[] {
  const steps: AgentStep[] = [];
  let texts: string[] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line.startsWith("say ")) texts.push(line.slice(4));
    const calls = line.startsWith("call ") ? callsIn(line.slice(5)) : [];
    if (calls.length === 0) continue;
    steps.push(texts.length > 0 ? { say: texts.join("\n"), calls } : { calls });
    texts = [];
  }
  return texts.length > 0 ? [...steps, { say: texts.join("\n") }] : steps;
}

/** The number of steps in the conversation: each assistant message with a tool call is one. */
export function countStepsDone(messages: readonly ParsedMessage[]): number {
  return messages.filter(
    ({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"),
  ).length;
}

type PlannedCall = { readonly name: string; readonly input: JsonObject };

/** Parallel calls are written on one line with ` & ` between them; the word `call` may be repeated. */
function callsIn(line: string): readonly PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (let rest = line.trim(); rest !== ""; ) {
    const name = /^(?:call )?([a-zA-Z0-9_-]+)\s*/.exec(rest);
    if (name === null) return [];
    const after = rest.slice(name[0].length);
    const json = objectAtStart(after);
    const input = json === "" ? {} : inputOf(json);
    if (input === null) return [];
    calls.push({ name: String(name[1]), input });
    rest = after.slice(json.length).trim();
    if (rest !== "" && !rest.startsWith("&")) return [];
    rest = rest.slice(1).trim();
  }
  return calls;
}

function inputOf(json: string): JsonObject | null {
  const parsed = parseJsonText(Buffer.from(json));
  return parsed.type === "value" && isObject(parsed.value) ? parsed.value : null;
}

/** The text of the object that a line begins with: braces inside strings do not count. */
function objectAtStart(text: string): string {
  if (!text.startsWith("{")) return "";
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (isQuoted && char === "\\") at += 1;
    else if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === "{") depth += 1;
    else if (!isQuoted && char === "}") depth -= 1;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}
