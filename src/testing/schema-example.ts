import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject } from "./json-text.ts";

const depthMax = 20;

/** A small value that fits a JSON schema: the answer of a model to a client that requires a format. */
export function schemaExample(schema: JsonObject): Json {
  return exampleAt({ schema, root: schema, depth: 0 });
}

type SchemaPosition = {
  readonly schema: Json | undefined;
  readonly root: JsonObject;
  readonly depth: number;
};

function exampleAt({ schema, root, depth }: SchemaPosition): Json {
  if (!isObject(schema) || depth > depthMax) return null;
  const inner = (next: Json | undefined): Json => exampleAt({ schema: next, root, depth: depth + 1 });
  if (schema["const"] !== undefined) return schema["const"];
  for (const key of ["enum", "examples"]) {
    const choices = schema[key];
    if (isList(choices) && choices[0] !== undefined) return choices[0];
  }
  if (typeof schema["$ref"] === "string") return inner(resolveReference(root, schema["$ref"]));
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    const choices = schema[key];
    if (isList(choices)) return inner(choices[0]);
  }
  const type = isList(schema["type"]) ? schema["type"][0] : schema["type"];
  switch (type) {
    case "string":
      return textFor(schema);
    case "number":
    case "integer":
      return numberOf(schema["minimum"], 0);
    case "boolean":
      return false;
    case "array":
      return Array.from({ length: numberOf(schema["minItems"], 0) }, () => inner(schema["items"]));
    case "null":
      return null;
    default:
      return objectFor(schema, inner);
  }
}

function objectFor(schema: JsonObject, inner: (next: Json | undefined) => Json): Json {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = isList(schema["required"]) ? schema["required"] : [];
  return Object.fromEntries(required.map((name) => [String(name), inner(properties[String(name)])]));
}

function textFor(schema: JsonObject): string {
  return "example"
    .padEnd(numberOf(schema["minLength"], 0), " example")
    .slice(0, numberOf(schema["maxLength"], 1000));
}

function numberOf(value: Json | undefined, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

/** Follows `#/$defs/name`. */
function resolveReference(root: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = root;
  for (const key of path.split("/").slice(1)) value = isObject(value) ? value[key] : undefined;
  return value;
}
