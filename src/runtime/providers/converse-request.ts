import type { ContentBlock, ConverseCommandInput, Message, Tool } from "@aws-sdk/client-bedrock-runtime";
import type { ModelRequest, ModelTool } from "../provider.ts";
import { converseJson, toConverse } from "./converse-blocks.ts";
import type { ClientFailure } from "./failure.ts";
import { type ExtraFields, isMarked, isSystemMarked } from "./messages-body.ts";

const cachePoint = { cachePoint: { type: "default" } } as const;

/**
 * A prompt as input of Converse. Converse cannot express "call no tool": the tools are sent all the same,
 * since the history mentions them and reasoning is bound to them, and the run has to refuse calls of the
 * model.
 */
export function converseInput(
  request: ModelRequest,
  fields: ExtraFields,
): { readonly input: ConverseCommandInput } | { readonly failure: ClientFailure } {
  const unknown = request.messages
    .flatMap(({ content }) => content)
    .find((block) => toConverse(block) === null);
  if (unknown !== undefined) {
    const problem = `a block of type ${unknown.type} in this form through Converse`;
    return { failure: { type: "unsupported", problem } };
  }
  const { stopSequences, maxTokens } = request;
  const tools = request.tools.length === 0 ? formerTools(request) : request.tools;
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

/**
 * Tools for a history that mentions tools the agent no longer has: Converse refuses such a history without
 * tools.
 */
function formerTools({ messages }: ModelRequest): readonly ModelTool[] {
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
