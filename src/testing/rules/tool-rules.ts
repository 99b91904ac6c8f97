import { isObject, type JsonObject } from "../json-text.ts";
import { blockPath, contentBlocks, type ParsedRequest } from "../parsed-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

export function* toolProblems(request: ParsedRequest): Generator<RequestProblem> {
  const names = new Set<string>();
  for (const [index, tool] of request.tools.entries()) {
    const path = `tools.${index}`;
    yield* definitionProblems(tool, path);
    const name = toolName(tool);
    if (name === null) continue;
    if (names.has(name)) yield invalid(`${path}.name`, "tool names must be unique");
    names.add(name);
  }
  yield* referenceProblems(request, names);
}

/** A tool set of a server has the server's name. */
export function toolName(tool: JsonObject): string | null {
  const name = tool["name"] ?? tool["mcp_server_name"];
  return typeof name === "string" ? name : null;
}

export function* definitionProblems(tool: JsonObject, path: string): Generator<RequestProblem> {
  const type = tool["type"] ?? "custom";
  const name = toolName(tool);
  if (typeof type !== "string") yield invalid(`${path}.type`, "expected a string");
  if (name === null) {
    // Some of the provider's own tool sets have a type and nothing else.
    if (type === "custom") yield invalid(`${path}.name`, "this field is required");
  } else if (!namePattern.test(name)) {
    yield invalid(`${path}.name`, "a name is 1 to 128 letters, digits, _ and -");
  }
  if (type !== "custom") return;
  const schema = tool["input_schema"];
  if (!isObject(schema)) yield invalid(`${path}.input_schema`, "this field is required");
  else if (schema["type"] !== "object") yield invalid(`${path}.input_schema.type`, "must be object");
  const description = tool["description"] ?? "";
  if (typeof description !== "string") yield invalid(`${path}.description`, "expected a string");
}

/** A search result may name only tools that the request defines. */
function* referenceProblems(request: ParsedRequest, names: ReadonlySet<string>): Generator<RequestProblem> {
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_result") continue;
      const missing = contentBlocks(block["content"]).find(
        (part) => part.type === "tool_reference" && !names.has(String(part["tool_name"])),
      );
      if (missing === undefined) continue;
      const path = blockPath({ message: number, block: index });
      yield invalid(path, `no tool is named ${String(missing["tool_name"])}`);
    }
  }
}

export function* toolChoiceProblems(request: ParsedRequest): Generator<RequestProblem> {
  const choice = request.body["tool_choice"] ?? null;
  if (!isObject(choice)) return;
  const type = choice["type"];
  if (!["auto", "any", "tool", "none"].includes(String(type))) {
    yield invalid("tool_choice.type", "expected auto, any, tool or none");
    return;
  }
  if (request.tools.length === 0) yield invalid("tool_choice", "there are no tools to choose from");
  const isForced = type === "any" || type === "tool";
  if (type === "tool" && !request.tools.some((tool) => toolName(tool) === choice["name"])) {
    yield invalid("tool_choice.name", "no tool has this name");
  }
  if (isForced && !request.rules.mayForceTools)
    yield invalid("tool_choice", "this model cannot be forced to use tools");
  if (isForced && request.thinking?.["type"] === "enabled") {
    yield invalid("tool_choice", "a forced tool and enabled thinking exclude each other");
  }
}
