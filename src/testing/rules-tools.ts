import { isObject, type JsonObject } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import { blocksOf, type ParsedRequest, placeOf } from "./request.ts";

const namePattern = /^[a-zA-Z0-9_-]{1,128}$/;

export function* toolProblems(request: ParsedRequest): Generator<Problem> {
  const names = new Set<string>();
  for (const [index, tool] of request.tools.entries()) {
    const place = `tools.${index}`;
    yield* definitionProblems(tool, place);
    const name = toolName(tool);
    if (name === null) continue;
    if (names.has(name)) yield invalid(`${place}.name`, "tool names must be unique");
    names.add(name);
  }
  yield* referenceProblems(request, names);
}

/** A tool set of a server is known by that server's name. */
export function toolName(tool: JsonObject): string | null {
  const name = tool["name"] ?? tool["mcp_server_name"];
  return typeof name === "string" ? name : null;
}

export function* definitionProblems(tool: JsonObject, place: string): Generator<Problem> {
  const type = tool["type"] ?? "custom";
  const name = toolName(tool);
  if (typeof type !== "string") yield invalid(`${place}.type`, "expected a string");
  if (name === null) {
    // Some of the provider's own tool sets have a type and nothing else.
    if (type === "custom") yield invalid(`${place}.name`, "this field is required");
  } else if (!namePattern.test(name)) {
    yield invalid(`${place}.name`, "a name is 1 to 128 letters, digits, _ and -");
  }
  if (type !== "custom") return;
  const schema = tool["input_schema"];
  if (!isObject(schema)) yield invalid(`${place}.input_schema`, "this field is required");
  else if (schema["type"] !== "object") yield invalid(`${place}.input_schema.type`, "must be object");
  const description = tool["description"] ?? "";
  if (typeof description !== "string") yield invalid(`${place}.description`, "expected a string");
}

/** A search result may name only tools that the request defines. */
function* referenceProblems(request: ParsedRequest, names: ReadonlySet<string>): Generator<Problem> {
  for (const [number, message] of request.messages.entries()) {
    for (const [index, block] of message.content.entries()) {
      if (block.type !== "tool_result") continue;
      const missing = blocksOf(block["content"]).find(
        (part) => part.type === "tool_reference" && !names.has(String(part["tool_name"])),
      );
      if (missing === undefined) continue;
      const place = placeOf({ message: number, block: index });
      yield invalid(place, `no tool is named ${String(missing["tool_name"])}`);
    }
  }
}

export function* toolChoiceProblems(request: ParsedRequest): Generator<Problem> {
  const choice = request.body["tool_choice"] ?? null;
  if (!isObject(choice)) return;
  const type = choice["type"];
  if (!["auto", "any", "tool", "none"].includes(String(type))) {
    yield invalid("tool_choice.type", "expected auto, any, tool or none");
    return;
  }
  if (request.tools.length === 0) yield invalid("tool_choice", "there are no tools to choose from");
  const forced = type === "any" || type === "tool";
  if (type === "tool" && !request.tools.some((tool) => toolName(tool) === choice["name"])) {
    yield invalid("tool_choice.name", "no tool has this name");
  }
  if (forced && !request.rules.forcedTools)
    yield invalid("tool_choice", "this model cannot be forced to use tools");
  if (forced && request.thinking?.["type"] === "enabled") {
    yield invalid("tool_choice", "a forced tool and enabled thinking exclude each other");
  }
}
