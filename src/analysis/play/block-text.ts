import type { Part } from "../../content/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { type RecordedBlock, recordingRoute } from "../../transcripts/index.ts";

/** Reads a block of a recording. */
export function recordedPart(block: RecordedBlock): Part {
  return protocolOf(recordingRoute).read.part(Buffer.from(JSON.stringify(block)));
}

/** The readable text of a block; empty for an image. */
export function blockText(block: RecordedBlock): string {
  return plainPartText(recordedPart(block));
}

/** The text of a part in which names are searched: the strings of a call are not escaped. */
export function plainPartText(part: Part): string {
  switch (part.type) {
    case "text":
    case "instruction":
      return part.text;
    case "reasoning":
      return part.text ?? "";
    case "call":
      return [part.name, ...stringsIn(part.input)].join("\n");
    case "result":
      return part.parts.map((one) => (one.type === "text" ? one.text : "")).join("\n");
    default:
      return "";
  }
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}
