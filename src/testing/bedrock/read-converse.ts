import type { Json } from "../../base/index.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

/** Translates a Converse body into a Messages body; returns a problem if it breaks a rule of Converse. */
export function readConverseBody(body: JsonObject, model: string): JsonObject | RequestProblem {
  try {
    checkCachePoints(body, model);
    return translateBody(body);
  } catch (error) {
    if (error instanceof ConverseFault) return invalid(error.path, error.message);
    throw error;
  }
}

class ConverseFault extends Error {
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

/** Only some models cache prompts; the others refuse a prompt with cache points. */
function checkCachePoints({ system = [], messages = [] }: JsonObject, model: string): void {
  if (/claude|nova/.test(model)) return;
  const contents = (isList(messages) ? messages : []).map(
    (message) => objectIn(message, "messages")["content"],
  );
  const parts = [system, ...contents].flatMap((list = []) => (isList(list) ? list : []));
  if (parts.some((part) => isObject(part) && Object.hasOwn(part, "cachePoint"))) {
    throw new ConverseFault(
      "cachePoint",
      "You invoked an unsupported model or your request did not allow prompt caching.",
    );
  }
}

const bodyFields = ["messages", "system", "inferenceConfig", "toolConfig", "additionalModelRequestFields"];

function translateBody(body: JsonObject): JsonObject {
  checkFields(body, bodyFields, "body");
  const inference = objectIn(body["inferenceConfig"] ?? {}, "inferenceConfig");
  checkFields(inference, ["maxTokens", "temperature", "topP", "stopSequences"], "inferenceConfig");
  const messages = listIn(body["messages"], "messages").map(messageOf);
  const tools = body["toolConfig"] === undefined ? [] : toolsOf(body["toolConfig"]);
  const hasToolBlocks = messages.some(({ content }) =>
    content.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (hasToolBlocks && tools.length === 0) {
    throw new ConverseFault("toolConfig", "must be defined when using toolUse and toolResult content blocks");
  }
  return {
    max_tokens: inference["maxTokens"] ?? 4096,
    ...(inference["stopSequences"] === undefined ? {} : { stop_sequences: inference["stopSequences"] }),
    ...(body["system"] === undefined ? {} : { system: blocksOf(body["system"], "system") }),
    messages: checkAlternation(messages),
    ...(tools.length === 0 ? {} : { tools }),
    ...objectIn(body["additionalModelRequestFields"] ?? {}, "additionalModelRequestFields"),
  };
}

type ConverseBlock = JsonObject & { readonly type: string };
type ConverseMessage = { readonly role: string; readonly content: readonly ConverseBlock[] };

function messageOf(value: Json, at: number): ConverseMessage {
  const path = `messages.${at}`;
  const message = objectIn(value, path);
  checkFields(message, ["role", "content"], path);
  return { role: textIn(message["role"], `${path}.role`), content: blocksOf(message["content"], path) };
}

/** Unlike the Messages API, Converse refuses two messages of one role in a row. */
function checkAlternation(messages: readonly ConverseMessage[]): readonly ConverseMessage[] {
  for (const [at, { role }] of messages.entries()) {
    if (role !== (at % 2 === 0 ? "user" : "assistant")) {
      throw new ConverseFault(`messages.${at}`, "roles must alternate between user and assistant");
    }
  }
  return messages;
}

/** A cache point marks the block before it. */
function blocksOf(value: Json | undefined, path: string): readonly ConverseBlock[] {
  const blocks: ConverseBlock[] = [];
  for (const [at, part] of listIn(value, path).entries()) {
    const partPath = `${path}.content.${at}`;
    const [name, content] = memberOf(part, partPath);
    if (name !== "cachePoint") {
      blocks.push(blockOf(name, content, partPath));
      continue;
    }
    const before = blocks.pop();
    if (before === undefined) throw new ConverseFault(partPath, "a cache point stands behind a block");
    if (objectIn(content, partPath)["type"] !== "default")
      throw new ConverseFault(partPath, "unknown cache point");
    blocks.push({ ...before, cache_control: { type: "ephemeral" } });
  }
  return blocks;
}

function blockOf(name: string, value: Json, path: string): ConverseBlock {
  switch (name) {
    case "text":
      return { type: "text", text: nonBlankText(value, path) };
    case "image":
      return imageOf(value, path);
    case "toolUse": {
      const call = objectIn(value, path);
      checkFields(call, ["toolUseId", "name", "input"], path);
      const id = textIn(call["toolUseId"], path);
      return {
        type: "tool_use",
        id,
        name: textIn(call["name"], path),
        input: objectIn(call["input"], path),
      };
    }
    case "toolResult":
      return resultOf(objectIn(value, path), path);
    case "reasoningContent":
      return reasoningOf(value, path);
    default:
      throw new ConverseFault(path, `unknown member ${name}`);
  }
}

function imageOf(value: Json, path: string): ConverseBlock {
  const image = objectIn(value, path);
  const format = textIn(image["format"], path);
  const data = textIn(objectIn(image["source"], path)["bytes"], path);
  return { type: "image", source: { type: "base64", media_type: `image/${format}`, data } };
}

function resultOf(result: JsonObject, path: string): ConverseBlock {
  checkFields(result, ["toolUseId", "content", "status"], path);
  const content = listIn(result["content"], path).map((part) => {
    const [name, value] = memberOf(part, path);
    if (name !== "text" && name !== "image") throw new ConverseFault(path, `unknown member ${name}`);
    return blockOf(name, value, path);
  });
  const isError = result["status"] === "error";
  if (isError && content.length === 0) throw new ConverseFault(path, "an error must say something");
  const id = textIn(result["toolUseId"], path);
  return { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function reasoningOf(value: Json, path: string): ConverseBlock {
  const [name, content] = memberOf(value, path);
  if (name === "redactedContent") {
    return { type: "redacted_thinking", data: Buffer.from(textIn(content, path), "base64").toString() };
  }
  const { text, signature } = objectIn(content, path);
  return { type: "thinking", thinking: textIn(text, path), signature: textIn(signature, path) };
}

function toolsOf(value: Json): readonly JsonObject[] {
  const config = objectIn(value, "toolConfig");
  checkFields(config, ["tools", "toolChoice"], "toolConfig");
  return listIn(config["tools"], "toolConfig.tools").map((tool, at) => {
    const path = `toolConfig.tools.${at}`;
    const [name, content] = memberOf(tool, path);
    if (name !== "toolSpec") throw new ConverseFault(path, `unknown member ${name}`);
    const spec = objectIn(content, path);
    const description = spec["description"];
    if (description === "") throw new ConverseFault(`${path}.description`, "must not be empty");
    const schema = objectIn(objectIn(spec["inputSchema"], path)["json"], path);
    return {
      name: textIn(spec["name"], path),
      ...(description === undefined ? {} : { description }),
      input_schema: schema,
    };
  });
}

/** Every part is a union with exactly one member. */
function memberOf(value: Json, path: string): readonly [string, Json] {
  const members = Object.entries(objectIn(value, path));
  const [member] = members;
  if (members.length !== 1 || member === undefined) throw new ConverseFault(path, "expected one member");
  return member;
}

function nonBlankText(value: Json | undefined, path: string): string {
  const text = textIn(value, path);
  if (text.trim() === "")
    throw new ConverseFault(path, "The text field in the ContentBlock object is blank.");
  return text;
}

function textIn(value: Json | undefined, path: string): string {
  if (typeof value !== "string") throw new ConverseFault(path, "expected a string");
  return value;
}

function objectIn(value: Json | undefined, path: string): JsonObject {
  if (!isObject(value)) throw new ConverseFault(path, "expected an object");
  return value;
}

function listIn(value: Json | undefined, path: string): readonly Json[] {
  if (!isList(value)) throw new ConverseFault(path, "expected a list");
  return value;
}

function checkFields(value: JsonObject, known: readonly string[], path: string): void {
  const extra = Object.keys(value).find((key) => !known.includes(key));
  if (extra !== undefined) throw new ConverseFault(path, `extraneous key [${extra}] is not permitted`);
}
