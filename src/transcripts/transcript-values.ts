/** A JSON object of a transcript. Its values are unknown, and the functions here check their types. */
export type TranscriptFields = Readonly<Record<string, unknown>>;

const noFields: TranscriptFields = {};

export function transcriptFields(value: unknown): TranscriptFields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as TranscriptFields)
    : noFields;
}

export function jsonList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}

/** The value of a JSON text. Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
