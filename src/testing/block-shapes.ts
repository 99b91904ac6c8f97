import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";

type Kind = "text" | "flag" | "object" | "list" | "content" | "source" | "json";

type BlockShape = {
  /** Who may say it. */
  readonly roles: readonly string[];
  readonly required: Readonly<Record<string, Kind>>;
  readonly optional: Readonly<Record<string, Kind>>;
};

const anyone = ["user", "assistant"];
const mark = { cache_control: "object" } as const;
const serverCall: BlockShape = {
  roles: ["assistant"],
  required: { id: "text", name: "text", input: "object" },
  optional: { ...mark, caller: "object", server_name: "text" },
};
const serverResult: BlockShape = {
  roles: anyone,
  required: { tool_use_id: "text", content: "json" },
  optional: { ...mark, caller: "object", is_error: "flag" },
};
const toolChange: BlockShape = { roles: ["system"], required: { tool: "object" }, optional: mark };

const shapes: Readonly<Record<string, BlockShape>> = {
  text: {
    roles: ["user", "assistant", "system"],
    required: { text: "text" },
    optional: { ...mark, citations: "list" },
  },
  image: { roles: ["user"], required: { source: "source" }, optional: mark },
  document: {
    roles: anyone,
    required: { source: "source" },
    optional: { ...mark, title: "text", context: "text", citations: "object" },
  },
  search_result: {
    roles: anyone,
    required: { source: "text", title: "text", content: "list" },
    optional: { ...mark, citations: "object" },
  },
  thinking: { roles: ["assistant"], required: { thinking: "text", signature: "text" }, optional: mark },
  redacted_thinking: { roles: ["assistant"], required: { data: "text" }, optional: mark },
  tool_use: {
    roles: ["assistant"],
    required: { id: "text", name: "text", input: "object" },
    optional: { ...mark, caller: "object", toolset_name: "text" },
  },
  tool_result: {
    roles: ["user"],
    required: { tool_use_id: "text" },
    optional: { ...mark, content: "content", is_error: "flag", toolset_name: "text" },
  },
  server_tool_use: serverCall,
  mcp_tool_use: serverCall,
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  advisor_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  mcp_tool_result: serverResult,
  container_upload: { roles: anyone, required: { file_id: "text" }, optional: mark },
  compaction: {
    roles: anyone,
    required: { content: "text" },
    optional: { ...mark, encrypted_content: "text", signature: "text", tool_changes: "list" },
  },
  tool_addition: toolChange,
  tool_removal: toolChange,
};

/** What may stand inside a tool result. */
const resultTypes = ["text", "image", "document", "search_result", "tool_reference"];
const reference: BlockShape = { roles: ["user"], required: { tool_name: "text" }, optional: mark };

export type ShapeQuestion = { readonly block: JsonObject; readonly place: string; readonly role: string };

export function* shapeOfBlock({ block, place, role }: ShapeQuestion): Generator<Problem> {
  const type = block["type"];
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) yield invalid(place, `no block has the type ${JSON.stringify(type ?? null)}`);
  else if (!shape.roles.includes(role)) {
    yield invalid(place, `a ${type} block may not stand in a ${role} message`);
  } else yield* fieldProblems({ block, place, shape });
}

type FieldQuestion = { readonly block: JsonObject; readonly place: string; readonly shape: BlockShape };

function* fieldProblems({ block, place, shape }: FieldQuestion): Generator<Problem> {
  for (const [name, kind] of Object.entries(shape.required)) {
    const value = block[name];
    if (value === undefined) yield invalid(`${place}.${name}`, "this field is required");
    else yield* valueProblems(value, kind, `${place}.${name}`);
  }
  for (const [name, value] of Object.entries(block)) {
    if (name === "type" || Object.hasOwn(shape.required, name)) continue;
    const kind = Object.hasOwn(shape.optional, name) ? shape.optional[name] : undefined;
    if (kind === undefined) yield invalid(`${place}.${name}`, "this field is not permitted here");
    else if (value !== null) yield* valueProblems(value, kind, `${place}.${name}`);
  }
}

function* valueProblems(value: Json, kind: Kind, place: string): Generator<Problem> {
  switch (kind) {
    case "text":
      if (typeof value !== "string") yield invalid(place, "expected a string");
      return;
    case "flag":
      if (typeof value !== "boolean") yield invalid(place, "expected true or false");
      return;
    case "object":
      if (!isObject(value)) yield invalid(place, "expected an object");
      return;
    case "list":
      if (!isList(value)) yield invalid(place, "expected a list");
      return;
    case "source":
      yield* sourceProblems(value, place);
      return;
    case "content":
      yield* resultProblems(value, place);
      return;
    case "json":
      return;
  }
}

const sourceTypes = ["base64", "url", "file", "text", "content"];

function* sourceProblems(value: Json, place: string): Generator<Problem> {
  if (!isObject(value)) yield invalid(place, "expected an object");
  else if (!sourceTypes.includes(String(value["type"])))
    yield invalid(`${place}.type`, "unknown source type");
  else if (value["type"] === "base64" && typeof value["data"] !== "string") {
    yield invalid(`${place}.data`, "this field is required");
  }
}

function* resultProblems(value: Json, place: string): Generator<Problem> {
  if (typeof value === "string") return;
  if (!isList(value)) {
    yield invalid(place, "expected a string or a list of blocks");
    return;
  }
  for (const [index, block] of value.entries()) {
    const blockPlace = `${place}.${index}`;
    const type = isObject(block) ? String(block["type"]) : "";
    if (!isObject(block) || !resultTypes.includes(type)) {
      yield invalid(blockPlace, "a tool result holds text, image, document, search_result or tool_reference");
    } else if (type === "tool_reference")
      yield* fieldProblems({ block, place: blockPlace, shape: reference });
    else yield* shapeOfBlock({ block, place: blockPlace, role: "user" });
  }
}
