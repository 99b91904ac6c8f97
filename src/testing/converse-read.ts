import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";

/** A body of Converse as the body of the Messages interface that it stands for, or what is wrong with it. */
export function messagesOfConverse(body: JsonObject, model: string): JsonObject | Problem {
  try {
    cachePointsTaken(body, model);
    return translated(body);
  } catch (error) {
    if (error instanceof ConverseFault) return invalid(error.place, error.message);
    throw error;
  }
}

class ConverseFault extends Error {
  readonly place: string;

  constructor(place: string, message: string) {
    super(message);
    this.place = place;
  }
}

/** Only some models cache prompts, and the others do not take a prompt that asks for it. */
function cachePointsTaken({ system = [], messages = [] }: JsonObject, model: string): void {
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

function translated(body: JsonObject): JsonObject {
  onlyFields(body, bodyFields, "body");
  const inference = objectIn(body["inferenceConfig"] ?? {}, "inferenceConfig");
  onlyFields(inference, ["maxTokens", "temperature", "topP", "stopSequences"], "inferenceConfig");
  const messages = listIn(body["messages"], "messages").map(messageOf);
  const tools = body["toolConfig"] === undefined ? [] : toolsOf(body["toolConfig"]);
  const speaksOfTools = messages.some(({ content }) =>
    content.some(({ type }) => type === "tool_use" || type === "tool_result"),
  );
  if (speaksOfTools && tools.length === 0) {
    throw new ConverseFault("toolConfig", "must be defined when using toolUse and toolResult content blocks");
  }
  return {
    max_tokens: inference["maxTokens"] ?? 4096,
    ...(inference["stopSequences"] === undefined ? {} : { stop_sequences: inference["stopSequences"] }),
    ...(body["system"] === undefined ? {} : { system: blocksOf(body["system"], "system") }),
    messages: alternating(messages),
    ...(tools.length === 0 ? {} : { tools }),
    ...objectIn(body["additionalModelRequestFields"] ?? {}, "additionalModelRequestFields"),
  };
}

type Block = JsonObject & { readonly type: string };
type Message = { readonly role: string; readonly content: readonly Block[] };

function messageOf(value: Json, at: number): Message {
  const place = `messages.${at}`;
  const message = objectIn(value, place);
  onlyFields(message, ["role", "content"], place);
  return { role: textIn(message["role"], `${place}.role`), content: blocksOf(message["content"], place) };
}

/** Unlike elsewhere, two messages of one speaker in a row are refused. */
function alternating(messages: readonly Message[]): readonly Message[] {
  for (const [at, { role }] of messages.entries()) {
    if (role !== (at % 2 === 0 ? "user" : "assistant")) {
      throw new ConverseFault(`messages.${at}`, "roles must alternate between user and assistant");
    }
  }
  return messages;
}

/** A cache point marks what stands before it. */
function blocksOf(value: Json | undefined, place: string): readonly Block[] {
  const blocks: Block[] = [];
  for (const [at, part] of listIn(value, place).entries()) {
    const where = `${place}.content.${at}`;
    const [name, content] = memberOf(part, where);
    if (name !== "cachePoint") {
      blocks.push(blockOf(name, content, where));
      continue;
    }
    const before = blocks.pop();
    if (before === undefined) throw new ConverseFault(where, "a cache point stands behind a block");
    if (objectIn(content, where)["type"] !== "default") throw new ConverseFault(where, "unknown cache point");
    blocks.push({ ...before, cache_control: { type: "ephemeral" } });
  }
  return blocks;
}

function blockOf(name: string, value: Json, place: string): Block {
  switch (name) {
    case "text":
      return { type: "text", text: spokenIn(value, place) };
    case "image":
      return imageOf(value, place);
    case "toolUse": {
      const call = objectIn(value, place);
      onlyFields(call, ["toolUseId", "name", "input"], place);
      const id = textIn(call["toolUseId"], place);
      return {
        type: "tool_use",
        id,
        name: textIn(call["name"], place),
        input: objectIn(call["input"], place),
      };
    }
    case "toolResult":
      return resultOf(objectIn(value, place), place);
    case "reasoningContent":
      return reasoningOf(value, place);
    default:
      throw new ConverseFault(place, `unknown member ${name}`);
  }
}

function imageOf(value: Json, place: string): Block {
  const image = objectIn(value, place);
  const format = textIn(image["format"], place);
  const data = textIn(objectIn(image["source"], place)["bytes"], place);
  return { type: "image", source: { type: "base64", media_type: `image/${format}`, data } };
}

function resultOf(result: JsonObject, place: string): Block {
  onlyFields(result, ["toolUseId", "content", "status"], place);
  const content = listIn(result["content"], place).map((part) => {
    const [name, value] = memberOf(part, place);
    if (name !== "text" && name !== "image") throw new ConverseFault(place, `unknown member ${name}`);
    return blockOf(name, value, place);
  });
  const isError = result["status"] === "error";
  if (isError && content.length === 0) throw new ConverseFault(place, "an error must say something");
  const id = textIn(result["toolUseId"], place);
  return { type: "tool_result", tool_use_id: id, content, ...(isError ? { is_error: true } : {}) };
}

function reasoningOf(value: Json, place: string): Block {
  const [name, content] = memberOf(value, place);
  if (name === "redactedContent") {
    return { type: "redacted_thinking", data: Buffer.from(textIn(content, place), "base64").toString() };
  }
  const { text, signature } = objectIn(content, place);
  return { type: "thinking", thinking: textIn(text, place), signature: textIn(signature, place) };
}

function toolsOf(value: Json): readonly JsonObject[] {
  const config = objectIn(value, "toolConfig");
  onlyFields(config, ["tools", "toolChoice"], "toolConfig");
  return listIn(config["tools"], "toolConfig.tools").map((tool, at) => {
    const place = `toolConfig.tools.${at}`;
    const [name, content] = memberOf(tool, place);
    if (name !== "toolSpec") throw new ConverseFault(place, `unknown member ${name}`);
    const spec = objectIn(content, place);
    const description = spec["description"];
    if (description === "") throw new ConverseFault(`${place}.description`, "must not be empty");
    const schema = objectIn(objectIn(spec["inputSchema"], place)["json"], place);
    return {
      name: textIn(spec["name"], place),
      ...(description === undefined ? {} : { description }),
      input_schema: schema,
    };
  });
}

/** Every part is a union: exactly one member is set. */
function memberOf(value: Json, place: string): readonly [string, Json] {
  const members = Object.entries(objectIn(value, place));
  const [member] = members;
  if (members.length !== 1 || member === undefined) throw new ConverseFault(place, "expected one member");
  return member;
}

function spokenIn(value: Json | undefined, place: string): string {
  const text = textIn(value, place);
  if (text.trim() === "")
    throw new ConverseFault(place, "The text field in the ContentBlock object is blank.");
  return text;
}

function textIn(value: Json | undefined, place: string): string {
  if (typeof value !== "string") throw new ConverseFault(place, "expected a string");
  return value;
}

function objectIn(value: Json | undefined, place: string): JsonObject {
  if (!isObject(value)) throw new ConverseFault(place, "expected an object");
  return value;
}

function listIn(value: Json | undefined, place: string): readonly Json[] {
  if (!isList(value)) throw new ConverseFault(place, "expected a list");
  return value;
}

function onlyFields(value: JsonObject, known: readonly string[], place: string): void {
  const extra = Object.keys(value).find((key) => !known.includes(key));
  if (extra !== undefined) throw new ConverseFault(place, `extraneous key [${extra}] is not permitted`);
}
