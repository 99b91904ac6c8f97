import type { Json } from "../../base/index.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";
import type { Endpoint } from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";
import { blockShapeProblems } from "./block-shapes.ts";

type FieldCheck = {
  readonly holds: (value: Json) => boolean;
  readonly expected: string;
};

const text: FieldCheck = { holds: (value) => typeof value === "string", expected: "a string" };
const flag: FieldCheck = { holds: (value) => typeof value === "boolean", expected: "true or false" };
const record: FieldCheck = { holds: isObject, expected: "an object" };
const list: FieldCheck = { holds: isList, expected: "a list" };
const share: FieldCheck = {
  holds: (value) => typeof value === "number" && value >= 0 && value <= 1,
  expected: "a number from 0 to 1",
};
const count: FieldCheck = {
  holds: (value) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0,
  expected: "a whole number that is not negative",
};
const texts: FieldCheck = {
  holds: (value) => isList(value) && value.every((item) => typeof item === "string" && item.trim() !== ""),
  expected: "a list of strings that are not blank",
};
const anything: FieldCheck = { holds: () => true, expected: "" };

/** Null stands for absent in every optional field. */
const fields: Readonly<Record<string, FieldCheck>> = {
  model: text,
  max_tokens: count,
  messages: list,
  system: { holds: (value) => typeof value === "string" || isList(value), expected: "a string or a list" },
  tools: list,
  tool_choice: record,
  thinking: record,
  metadata: record,
  stream: flag,
  temperature: share,
  top_p: share,
  top_k: count,
  stop_sequences: texts,
  service_tier: text,
  cache_control: record,
  context_management: record,
  output_config: record,
  output_format: record,
  compaction: record,
  diagnostics: record,
  mcp_servers: list,
  speed: text,
  inference_geo: text,
  thread: anything,
  container: anything,
  fallbacks: anything,
  fallback_credit_token: anything,
};

const required: Readonly<Record<Endpoint, readonly string[]>> = {
  messages: ["model", "max_tokens", "messages"],
  count_tokens: ["model", "messages"],
};

export function unknownFieldsOf(body: JsonObject): readonly string[] {
  return Object.keys(body).filter((key) => !Object.hasOwn(fields, key));
}

/** Runs before every other rule: they rely on lists being lists and on blocks having types. */
export function* shapeProblems(body: JsonObject, endpoint: Endpoint): Generator<RequestProblem> {
  for (const name of required[endpoint]) {
    if ((body[name] ?? null) === null) yield invalid(name, "this field is required");
  }
  for (const [name, check] of Object.entries(fields)) {
    const value = body[name] ?? null;
    if (value !== null && !check.holds(value)) yield invalid(name, `expected ${check.expected}`);
  }
  yield* systemProblems(body["system"]);
  yield* toolListProblems(body["tools"]);
  yield* messageProblems(body["messages"]);
}

function* systemProblems(system: Json | undefined): Generator<RequestProblem> {
  if (!isList(system)) return;
  for (const [index, block] of system.entries()) {
    const path = `system.${index}`;
    if (!isObject(block) || block["type"] !== "text") {
      yield invalid(path, "a system prompt consists of text blocks");
    } else yield* blockShapeProblems({ block, path, role: "system" });
  }
}

function* toolListProblems(tools: Json | undefined): Generator<RequestProblem> {
  if (!isList(tools)) return;
  for (const [index, tool] of tools.entries()) {
    if (!isObject(tool)) yield invalid(`tools.${index}`, "a tool is an object");
  }
}

const messageFields: Readonly<Record<string, readonly string[]>> = {
  user: ["role", "content"],
  assistant: ["role", "content"],
  system: ["role", "content", "clear_at", "output_config"],
};

function* messageProblems(messages: Json | undefined): Generator<RequestProblem> {
  if (!isList(messages)) return;
  for (const [number, message] of messages.entries()) {
    const path = `messages.${number}`;
    if (!isObject(message)) {
      yield invalid(path, "a message is an object");
      continue;
    }
    const role = message["role"];
    const known =
      typeof role === "string" && Object.hasOwn(messageFields, role) ? messageFields[role] : undefined;
    if (known === undefined) {
      yield invalid(`${path}.role`, "expected user, assistant or system");
      continue;
    }
    const extra = Object.keys(message).find((key) => !known.includes(key));
    if (extra !== undefined) yield invalid(`${path}.${extra}`, "this field is not permitted here");
    yield* contentProblems(message, path);
  }
}

function* contentProblems(message: JsonObject, path: string): Generator<RequestProblem> {
  const content = message["content"];
  const role = message["role"] as string; // checked by the caller
  if (typeof content === "string") return;
  if (content === undefined && role === "system" && isObject(message["output_config"])) return;
  if (!isList(content)) {
    yield invalid(`${path}.content`, "expected a string or a list of blocks");
    return;
  }
  for (const [index, block] of content.entries()) {
    const childPath = `${path}.content.${index}`;
    if (isObject(block)) yield* blockShapeProblems({ block, path: childPath, role });
    else yield invalid(childPath, "a block is an object");
  }
}
