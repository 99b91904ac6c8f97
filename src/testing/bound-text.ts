import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject, type NumberTexts } from "./json-text.ts";
import { type ContentBlock, contentBlocks, textOfBlock } from "./parsed-request.ts";

/**
 * The text of a block that reasoning is bound to. It leaves out what the provider promises to ignore: cache
 * marks, the order of keys, string or one text block, outer whitespace, blank text. The rest is compared
 * character by character, down to the way a number was written.
 */
export function boundText(block: ContentBlock, numbers: NumberTexts): string | null {
  const plain = boundBlock(block);
  return plain === null ? null : canonicalText(plain, numbers);
}

export function boundToolText(tool: JsonObject, numbers: NumberTexts): string {
  return canonicalText(withoutSilentFields(tool), numbers);
}

/**
 * One text per value: keys sorted, numbers as they were written. Strings carry their length instead of
 * quotes: this text is only hashed, and escaping a megabyte takes longer than everything else.
 */
export function canonicalText(value: Json, numbers: NumberTexts): string {
  if (typeof value === "string") return `${value.length}"${value}`;
  if (isList(value)) return listText(value, numbers);
  if (isObject(value)) return objectText(value, numbers);
  return String(value);
}

function listText(items: readonly Json[], numbers: NumberTexts): string {
  const texts = numbers.get(items);
  let text = "[";
  for (const [index, item] of items.entries()) {
    text += `${texts?.get(String(index)) ?? canonicalText(item, numbers)},`;
  }
  return `${text}]`;
}

function objectText(record: JsonObject, numbers: NumberTexts): string {
  const texts = numbers.get(record);
  let text = "{";
  for (const key of Object.keys(record).sort(byCodeUnit)) {
    text += `${key.length}"${key}:${texts?.get(key) ?? canonicalText(record[key] ?? null, numbers)},`;
  }
  return `${text}}`;
}

export function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Leaves out cache marks and null fields: null stands for absent, and clients send nulls back. */
export function withoutSilentFields(record: JsonObject): JsonObject {
  const isSilent = (key: string): boolean => key === "cache_control" || record[key] === null;
  const keys = Object.keys(record);
  if (!keys.some(isSilent)) return record;
  return Object.fromEntries(keys.filter((key) => !isSilent(key)).map((key) => [key, record[key] ?? null]));
}

function boundBlock(block: ContentBlock): JsonObject | null {
  switch (block.type) {
    case "text": {
      const text = textOfBlock(block).trim();
      return text === "" ? null : { ...withoutSilentFields(block), text };
    }
    case "tool_result": {
      const parts = contentBlocks(block["content"]).map(boundBlock);
      return { ...withoutSilentFields(block), content: parts.filter((part) => part !== null) };
    }
    default:
      return withoutSilentFields(block);
  }
}
