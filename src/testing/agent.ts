import { planOf, type Step, stepsDone } from "./agent-plan.ts";
import { isObject, type JsonObject } from "./json-text.ts";
import type { Reply, ReplyBlock, ScriptedModel } from "./reply.ts";
import { type Block, type ParsedMessage, type ParsedRequest, textOf } from "./request.ts";
import { exampleOf } from "./schema-example.ts";

/** When a prompt fits, these steps are taken, one per turn. */
export type AgentRule = {
  /** Tested on the text of the latest prompt, or on the whole request. */
  readonly when: RegExp | ((request: ParsedRequest) => boolean);
  readonly steps: readonly Step[];
};

export type AgentOptions = {
  readonly rules?: readonly AgentRule[];
  /** What it says when nothing else is to be said. */
  readonly fallback?: string;
};

/**
 * A small agent without a memory: what it has done already it reads from the conversation. It follows its
 * rules, or else the prompt itself, whose lines spell out what to do:
 *
 *     say I will look at both files
 *     call Read {"file_path": "a"} & Read {"file_path": "b"}
 *     say done
 *
 * Calls on one line are made in one turn. A request for an answer in a given format gets a small valid one.
 */
export function ruleAgent(options: AgentOptions = {}): ScriptedModel {
  const fallback = options.fallback ?? "Done.";
  return (request) => {
    const schema = formatOf(request);
    if (schema !== null) return { content: [{ type: "text", text: JSON.stringify(exampleOf(schema)) }] };
    const prompt = latestPrompt(request.messages);
    const steps = stepsFor({ request, text: prompt.text, rules: options.rules ?? [] });
    const done = stepsDone(request.messages.slice(prompt.message));
    const step = steps[done] ?? { say: fallback };
    return withThinking(request, { content: blocksFor(step, fallback) }, done);
  };
}

type StepQuestion = {
  readonly request: ParsedRequest;
  readonly text: string;
  readonly rules: readonly AgentRule[];
};

function stepsFor({ request, text, rules }: StepQuestion): readonly Step[] {
  const rule = rules.find(({ when }) => (when instanceof RegExp ? when.test(text) : when(request)));
  return rule?.steps ?? planOf(text);
}

function blocksFor(step: Step, fallback: string): readonly ReplyBlock[] {
  const text = step.say ?? "";
  const calls = (step.calls ?? []).map((call): ReplyBlock => ({ type: "tool_use", ...call }));
  const spoken: readonly ReplyBlock[] = text.trim() === "" ? [] : [{ type: "text", text }];
  const blocks = [...spoken, ...calls];
  return blocks.length === 0 ? [{ type: "text", text: fallback }] : blocks;
}

function withThinking(request: ParsedRequest, reply: Reply, done: number): Reply {
  const type = request.thinking?.["type"];
  if (type !== "enabled" && type !== "adaptive") return reply;
  return {
    ...reply,
    content: [{ type: "thinking", thinking: `Step ${done + 1} comes next.` }, ...reply.content],
  };
}

type Prompt = { readonly text: string; readonly message: number };

/**
 * The last thing the user asked for. Results of tools and the notes that clients add to them do not count,
 * unless somebody spells out new steps there.
 */
function latestPrompt(messages: readonly ParsedMessage[]): Prompt {
  for (let number = messages.length - 1; number >= 0; number -= 1) {
    const message = messages[number];
    if (message?.role !== "user") continue;
    const text = spokenText(message.content);
    const answers = message.content.some(({ type }) => type === "tool_result");
    if (text !== "" && (!answers || planOf(text).length > 0)) return { text, message: number };
  }
  return { text: "", message: 0 };
}

function spokenText(content: readonly Block[]): string {
  const texts = content.filter(({ type }) => type === "text").map(textOf);
  return texts
    .join("\n")
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .trim();
}

function formatOf(request: ParsedRequest): JsonObject | null {
  const output = request.body["output_config"];
  const format = (isObject(output) ? output["format"] : undefined) ?? request.body["output_format"];
  const schema = isObject(format) ? format["schema"] : undefined;
  return isObject(schema) ? schema : null;
}
