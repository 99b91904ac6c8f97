import type { Json } from "../../base/index.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";

/** The objects of a list, and nothing else that may be in it. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

export function wordIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** A text, or the texts of its parts. */
export function textIn(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => wordIn(text))
    .join("\n");
}

/** Arguments as some protocols write them: JSON inside a string. */
export function argumentsIn(value: Json | undefined): JsonObject {
  try {
    const parsed = JSON.parse(wordIn(value)) as Json;
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
