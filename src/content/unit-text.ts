/** Fields without readable text: opaque data of the provider, ids and images. */
const skippedFields: ReadonlySet<string> = new Set(["signature", "data", "type", "id", "tool_use_id"]);

/** All texts of a unit, one per line, without fields that only programs read. Empty if it is no JSON. */
export function searchableText(bytes: Uint8Array): string {
  const texts: string[] = [];
  try {
    collect(JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8")), texts);
  } catch {
    return "";
  }
  return texts.join("\n");
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === "string") texts.push(value);
  else if (Array.isArray(value)) for (const item of value) collect(item, texts);
  else if (value !== null && typeof value === "object") {
    for (const [key, field] of Object.entries(value)) if (!skippedFields.has(key)) collect(field, texts);
  }
}
