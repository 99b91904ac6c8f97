import { isObject, type JsonObject, parseJsonText } from "./json-text.ts";
import type { ParsedMessage } from "./request.ts";

/** What an agent does in one turn. */
export type Step = {
  readonly say?: string;
  /** Made side by side. */
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[];
};

/** The steps that a prompt spells out in its lines. Text before a call is said together with it. */
export function planOf(text: string): readonly Step[] {
  const steps: Step[] = [];
  let said: string[] = [];
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (line.startsWith("say ")) said.push(line.slice(4));
    const calls = line.startsWith("call ") ? callsIn(line.slice(5)) : [];
    if (calls.length === 0) continue;
    steps.push(said.length > 0 ? { say: said.join("\n"), calls } : { calls });
    said = [];
  }
  return said.length > 0 ? [...steps, { say: said.join("\n") }] : steps;
}

/** How many steps the conversation shows: each turn of the assistant that called something was one. */
export function stepsDone(since: readonly ParsedMessage[]): number {
  return since.filter(
    ({ role, content }) => role === "assistant" && content.some(({ type }) => type === "tool_use"),
  ).length;
}

type Call = { readonly name: string; readonly input: JsonObject };

/** Several calls stand on one line with ` & ` between them; the word `call` may be repeated. */
function callsIn(line: string): readonly Call[] {
  const calls: Call[] = [];
  for (let rest = line.trim(); rest !== ""; ) {
    const name = /^(?:call )?([a-zA-Z0-9_-]+)\s*/.exec(rest);
    if (name === null) return [];
    const after = rest.slice(name[0].length);
    const json = objectAtStart(after);
    const call = json === "" ? {} : inputOf(json);
    if (call === null) return [];
    calls.push({ name: String(name[1]), input: call });
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
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === "\\") at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === "{") depth += 1;
    else if (!quoted && char === "}") depth -= 1;
    if (depth === 0) return text.slice(0, at + 1);
  }
  return text;
}
