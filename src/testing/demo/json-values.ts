import type { Json } from "../../base/index.ts";
import { isList, isObject, type JsonObject } from "../json-text.ts";

/** The objects of a list; other values are left out. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

export function stringIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

/** The text of a content: a string, or the texts of its parts. */
export function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map(({ text }) => stringIn(text))
    .join("\n");
}

/** Arguments as some protocols write them: JSON inside a string. */
export function argumentsIn(value: Json | undefined): JsonObject {
  try {
    const parsed = JSON.parse(stringIn(value)) as Json;
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
