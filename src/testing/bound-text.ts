import type { Json } from "../base/index.ts";
import { isList, isObject, type JsonObject, type NumberTexts } from "./json-text.ts";
import { type Block, blocksOf, textOf } from "./request.ts";

/**
 * The text under which a block counts when reasoning is bound to it. What the provider promises not to look
 * at is gone: cache marks, the order of keys, string or one text block, outer whitespace, blank text. What
 * remains is compared to the letter, down to the way a number was written.
 */
export function boundText(block: Block, numbers: NumberTexts): string | null {
  const plain = boundBlock(block);
  return plain === null ? null : canonicalText(plain, numbers);
}

export function boundToolText(tool: JsonObject, numbers: NumberTexts): string {
  return canonicalText(bare(tool), numbers);
}

/**
 * One text per value: keys sorted, numbers as they were written. Strings carry their length instead of
 * quotes: nobody reads this text, and escaping a megabyte takes longer than everything else.
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

/** Null fields go too: they stand for absent ones, and clients send them back as they received them. */
export function bare(record: JsonObject): JsonObject {
  const isSilent = (key: string): boolean => key === "cache_control" || record[key] === null;
  const keys = Object.keys(record);
  if (!keys.some(isSilent)) return record;
  return Object.fromEntries(keys.filter((key) => !isSilent(key)).map((key) => [key, record[key] ?? null]));
}

function boundBlock(block: Block): JsonObject | null {
  switch (block.type) {
    case "text": {
      const text = textOf(block).trim();
      return text === "" ? null : { ...bare(block), text };
    }
    case "tool_result": {
      const parts = blocksOf(block["content"]).map(boundBlock);
      return { ...bare(block), content: parts.filter((part) => part !== null) };
    }
    default:
      return bare(block);
  }
}
