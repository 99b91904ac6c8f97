import type { ContentBlock, ConverseCommandInput, Message, Tool } from "@aws-sdk/client-bedrock-runtime";
import type { ModelRequest, ModelTool } from "../provider.ts";
import { converseJson, toConverse } from "./converse-blocks.ts";
import type { Failure } from "./failure.ts";
import { isMarked, isSystemMarked, type JsonFields } from "./messages-body.ts";

const cachePoint = { cachePoint: { type: "default" } } as const;

/**
 * A prompt as Converse takes it. It has no word for "call nothing": the tools are sent all the same, since
 * the history speaks of them and reasoning is bound to them, and what the model calls is for its host to
 * refuse.
 */
export function converseInput(
  request: ModelRequest,
  fields: JsonFields,
): { readonly input: ConverseCommandInput } | { readonly failure: Failure } {
  const unknown = request.messages
    .flatMap(({ content }) => content)
    .find((block) => toConverse(block) === null);
  if (unknown !== undefined) {
    const problem = `a block of type ${unknown.type} in this form through Converse`;
    return { failure: { type: "unsupported", problem } };
  }
  const { stopSequences, maxTokens } = request;
  const tools = request.tools.length === 0 ? toolsOnceThere(request) : request.tools;
  const input = {
    modelId: request.model,
    ...(request.system.length === 0 ? {} : { system: systemOf(request) }),
    messages: request.messages.map((_, at) => messageOf(request, at)),
    inferenceConfig: {
      maxTokens,
      ...(stopSequences.length === 0 ? {} : { stopSequences: [...stopSequences] }),
    },
    ...(tools.length === 0 ? {} : { toolConfig: { tools: tools.map(toolOf) } }),
    ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: converseJson(fields) }),
  };
  return { input };
}

/** A history that speaks of tools is refused where there are none: those it speaks of are named. */
function toolsOnceThere({ messages }: ModelRequest): readonly ModelTool[] {
  const calls = messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool_use");
  const names = new Set(calls.map(({ name }) => String(name)));
  const gone = { description: "No longer there.", input_schema: { type: "object" } } as const;
  return [...names].map((name) => ({ name, ...gone }));
}

function systemOf(request: ModelRequest): NonNullable<ConverseCommandInput["system"]> {
  const texts = request.system.map(({ text }) => ({ text: String(text) }));
  return isSystemMarked(request) ? [...texts, cachePoint] : texts;
}

function messageOf(request: ModelRequest, message: number): Message {
  const { role, content } = request.messages[message] ?? { role: "user", content: [] };
  const blocks = content.flatMap((block, at): ContentBlock[] => {
    const translated = toConverse(block);
    if (translated === null) return [];
    return isMarked(request, { message, block: at }) ? [translated, cachePoint] : [translated];
  });
  return { role, content: blocks };
}

function toolOf({ name, description, input_schema }: ModelTool): Tool {
  const inputSchema = { json: converseJson(input_schema) };
  return { toolSpec: { name, ...(description === "" ? {} : { description }), inputSchema } };
}
