import type { Json } from "../../base/index.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

type FieldKind = "text" | "flag" | "object" | "list" | "content" | "source" | "json";

type BlockShape = {
  /** The roles whose messages may hold such a block. */
  readonly roles: readonly string[];
  readonly required: Readonly<Record<string, FieldKind>>;
  readonly optional: Readonly<Record<string, FieldKind>>;
};

const anyRole = ["user", "assistant"];
const mark = { cache_control: "object" } as const;
const serverCall: BlockShape = {
  roles: ["assistant"],
  required: { id: "text", name: "text", input: "object" },
  optional: { ...mark, caller: "object", server_name: "text" },
};
const serverResult: BlockShape = {
  roles: anyRole,
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
    roles: anyRole,
    required: { source: "source" },
    optional: { ...mark, title: "text", context: "text", citations: "object" },
  },
  search_result: {
    roles: anyRole,
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
  container_upload: { roles: anyRole, required: { file_id: "text" }, optional: mark },
  compaction: {
    roles: anyRole,
    required: { content: "text" },
    optional: { ...mark, encrypted_content: "text", signature: "text", tool_changes: "list" },
  },
  tool_addition: toolChange,
  tool_removal: toolChange,
};

/** The types of blocks inside a tool result. */
const resultTypes = ["text", "image", "document", "search_result", "tool_reference"];
const reference: BlockShape = { roles: ["user"], required: { tool_name: "text" }, optional: mark };

export type BlockShapeInput = { readonly block: JsonObject; readonly path: string; readonly role: string };

export function* blockShapeProblems({ block, path, role }: BlockShapeInput): Generator<RequestProblem> {
  const type = block["type"];
  const shape = typeof type === "string" && Object.hasOwn(shapes, type) ? shapes[type] : undefined;
  if (shape === undefined) yield invalid(path, `no block has the type ${JSON.stringify(type ?? null)}`);
  else if (!shape.roles.includes(role)) {
    yield invalid(path, `a ${type} block may not stand in a ${role} message`);
  } else yield* fieldProblems({ block, path, shape });
}

type BlockFieldsInput = { readonly block: JsonObject; readonly path: string; readonly shape: BlockShape };

function* fieldProblems({ block, path, shape }: BlockFieldsInput): Generator<RequestProblem> {
  for (const [name, kind] of Object.entries(shape.required)) {
    const value = block[name];
    if (value === undefined) yield invalid(`${path}.${name}`, "this field is required");
    else yield* valueProblems(value, kind, `${path}.${name}`);
  }
  for (const [name, value] of Object.entries(block)) {
    if (name === "type" || Object.hasOwn(shape.required, name)) continue;
    const kind = Object.hasOwn(shape.optional, name) ? shape.optional[name] : undefined;
    if (kind === undefined) yield invalid(`${path}.${name}`, "this field is not permitted here");
    else if (value !== null) yield* valueProblems(value, kind, `${path}.${name}`);
  }
}

function* valueProblems(value: Json, kind: FieldKind, path: string): Generator<RequestProblem> {
  switch (kind) {
    case "text":
      if (typeof value !== "string") yield invalid(path, "expected a string");
      return;
    case "flag":
      if (typeof value !== "boolean") yield invalid(path, "expected true or false");
      return;
    case "object":
      if (!isObject(value)) yield invalid(path, "expected an object");
      return;
    case "list":
      if (!isList(value)) yield invalid(path, "expected a list");
      return;
    case "source":
      yield* sourceProblems(value, path);
      return;
    case "content":
      yield* resultProblems(value, path);
      return;
    case "json":
      return;
  }
}

const sourceTypes = ["base64", "url", "file", "text", "content"];

function* sourceProblems(value: Json, path: string): Generator<RequestProblem> {
  if (!isObject(value)) yield invalid(path, "expected an object");
  else if (!sourceTypes.includes(String(value["type"]))) yield invalid(`${path}.type`, "unknown source type");
  else if (value["type"] === "base64" && typeof value["data"] !== "string") {
    yield invalid(`${path}.data`, "this field is required");
  }
}

function* resultProblems(value: Json, path: string): Generator<RequestProblem> {
  if (typeof value === "string") return;
  if (!isList(value)) {
    yield invalid(path, "expected a string or a list of blocks");
    return;
  }
  for (const [index, block] of value.entries()) {
    const childPath = `${path}.${index}`;
    const type = isObject(block) ? String(block["type"]) : "";
    if (!isObject(block) || !resultTypes.includes(type)) {
      yield invalid(childPath, "a tool result holds text, image, document, search_result or tool_reference");
    } else if (type === "tool_reference") yield* fieldProblems({ block, path: childPath, shape: reference });
    else yield* blockShapeProblems({ block, path: childPath, role: "user" });
  }
}
