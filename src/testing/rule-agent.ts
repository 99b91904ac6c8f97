import { isObject, type JsonObject } from "./json-text.ts";
import { type ModelReply, type ScriptedModel, say } from "./model-reply.ts";
import { type ContentBlock, type ParsedMessage, type ParsedRequest, textOfBlock } from "./parsed-request.ts";
import { type AgentStep, countStepsDone, stepsInPrompt } from "./prompt-steps.ts";
import { schemaExample } from "./schema-example.ts";
import { stepReply } from "./step-model.ts";

/** Steps for prompts that fit, one per turn. */
export type AgentRule = {
  /** Tested on the text of the latest prompt, or on the whole request. */
  readonly when: RegExp | ((request: ParsedRequest) => boolean);
  readonly steps: readonly AgentStep[];
};

export type AgentOptions = {
  readonly rules?: readonly AgentRule[];
  /** The text of an answer without other content. */
  readonly fallback?: string;
};

/**
 * A small agent without state: it reads its past steps from the conversation. It follows its rules, or else
 * the prompt itself, whose lines spell out the steps:
 *
 *     say I will look at both files
 *     call Read {"file_path": "a"} & Read {"file_path": "b"}
 *     say done
 *
 * Calls on one line are made in one turn. A request for an answer in a format gets a small valid one.
 */
export function ruleAgent(options: AgentOptions = {}): ScriptedModel {
  const fallback = options.fallback ?? "Done.";
  return (request) => {
    const schema = outputSchema(request);
    if (schema !== null) return { content: [{ type: "text", text: JSON.stringify(schemaExample(schema)) }] };
    const prompt = latestPrompt(request.messages);
    const steps = stepsFor({ request, text: prompt.text, rules: options.rules ?? [] });
    const done = countStepsDone(request.messages.slice(prompt.message));
    const step = steps[done] ?? { say: fallback };
    const reply = stepReply(step);
    return withThinking(request, reply.content.length === 0 ? say(fallback) : reply, done);
  };
}

type StepInput = {
  readonly request: ParsedRequest;
  readonly text: string;
  readonly rules: readonly AgentRule[];
};

function stepsFor({ request, text, rules }: StepInput): readonly AgentStep[] {
  const rule = rules.find(({ when }) => (when instanceof RegExp ? when.test(text) : when(request)));
  return rule?.steps ?? stepsInPrompt(text);
}

function withThinking(request: ParsedRequest, reply: ModelReply, done: number): ModelReply {
  const type = request.thinking?.["type"];
  if (type !== "enabled" && type !== "adaptive") return reply;
  return {
    ...reply,
    content: [{ type: "thinking", thinking: `Step ${done + 1} comes next.` }, ...reply.content],
  };
}

type LatestPrompt = { readonly text: string; readonly message: number };

/**
 * The latest prompt of the user. Tool results and the text that clients add to them do not count, unless that
 * text spells out new steps.
 */
function latestPrompt(messages: readonly ParsedMessage[]): LatestPrompt {
  for (let number = messages.length - 1; number >= 0; number -= 1) {
    const message = messages[number];
    if (message?.role !== "user") continue;
    const text = promptText(message.content);
    const hasResults = message.content.some(({ type }) => type === "tool_result");
    if (text !== "" && (!hasResults || stepsInPrompt(text).length > 0)) return { text, message: number };
  }
  return { text: "", message: 0 };
}

function promptText(content: readonly ContentBlock[]): string {
  const texts = content.filter(({ type }) => type === "text").map(textOfBlock);
  return texts
    .join("\n")
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .trim();
}

function outputSchema(request: ParsedRequest): JsonObject | null {
  const output = request.body["output_config"];
  const format = (isObject(output) ? output["format"] : undefined) ?? request.body["output_format"];
  const schema = isObject(format) ? format["schema"] : undefined;
  return isObject(schema) ? schema : null;
}
