/** Fields that hold no words: opaque data of the provider, and images. */
const wordless: ReadonlySet<string> = new Set(["signature", "data", "type", "id", "tool_use_id"]);

/**
 * Everything a unit says, one text behind the other, without what is only there for programs. Bytes that are
 * no JSON say nothing.
 */
export function unitWords(bytes: Uint8Array): string {
  const words: string[] = [];
  try {
    collect(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")), words);
  } catch {
    return "";
  }
  return words.join("\n");
}

function collect(value: unknown, words: string[]): void {
  if (typeof value === "string") words.push(value);
  else if (Array.isArray(value)) for (const one of value) collect(one, words);
  else if (value !== null && typeof value === "object") {
    for (const [key, field] of Object.entries(value)) if (!wordless.has(key)) collect(field, words);
  }
}
