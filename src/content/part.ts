import type { Json } from "../base/index.ts";
import type { ProtocolName } from "../engine/frames/index.ts";

export type JsonFields = { readonly [key: string]: Json };

/** The content of a unit or block, whatever wire format its bytes have. */
export type Part =
  | TextPart
  | { readonly type: "instruction"; readonly text: string }
  | ReasoningPart
  | CallPart
  | ResultPart
  | MediaPart
  | (RawText & { readonly type: "tool"; readonly name: string; readonly description: string })
  | ProviderPart
  | OpaquePart;

/** A part that is shown as it is written, with the strings that a search may find in it. */
type RawText = { readonly text: string; readonly strings: readonly string[] };

/** Content in the words of its wire format: only a writer of the same format can put it back. */
export type WireContent = {
  readonly form: ProtocolName;
  /** The type that the format gives it, for people. Null if it names none. */
  readonly type: string | null;
  readonly value: Json;
};

/** A call of a tool that the provider runs itself, or its result, which has no name. It is never changed. */
export type ProviderPart = RawText & {
  readonly type: "provider";
  readonly name: string | null;
  readonly input: Json;
  readonly raw: WireContent;
};

/** Anything a codec does not know. It is never changed. `raw` is null if the bytes are no JSON. */
export type OpaquePart = RawText & { readonly type: "opaque"; readonly raw: WireContent | null };

export type TextPart = { readonly type: "text"; readonly text: string };

export type ReasoningPart = {
  readonly type: "reasoning";
  /** Null if the provider never showed it. */
  readonly text: string | null;
  /** A signed one can be continued by its model. */
  readonly isSigned: boolean;
  /** Characters of its signature, which grows with the hidden text. */
  readonly signatureLength: number;
};

export type CallPart = {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly input: Json;
  /** False if reading the input lost digits of a number: then it must not be written again. */
  readonly isExact: boolean;
};

export type ResultPart = {
  readonly type: "result";
  readonly callId: string;
  /** Texts and media in their order. */
  readonly parts: readonly (TextPart | MediaPart | OpaquePart)[];
  readonly isError: boolean;
};

/** Its text describes it, or is the document itself if that is plain text. */
export type MediaPart = RawText & {
  readonly type: "media";
  readonly kind: "image" | "document";
  /** The bytes in base64 and their type. Null if they are not in base64, or elsewhere. */
  readonly file: { readonly type: string; readonly data: string } | null;
  /** Null if kind and file say all of it. */
  readonly raw: WireContent | null;
};

export type PartType = Part["type"];

/** The text of a part for people. Null if it has none, such as reasoning that was never visible. */
export function partText(part: Part): string | null {
  switch (part.type) {
    case "call":
      return `${part.name}(${JSON.stringify(part.input)})`;
    case "result":
      return part.parts.map(({ text }) => text).join("\n");
    default:
      return part.text;
  }
}

/** All texts of a part, one per line, without ids, signatures and encoded data: what a search may find. */
export function searchableText(part: Part): string {
  return stringsOf(part).join("\n");
}

function stringsOf(part: Part): readonly string[] {
  switch (part.type) {
    case "text":
    case "instruction":
      return [part.text];
    case "reasoning":
      return part.text === null ? [] : [part.text];
    case "call":
      return [part.name, ...stringsIn(part.input)];
    case "result":
      return part.parts.flatMap(stringsOf);
    default:
      return part.strings;
  }
}

/** Fields that only programs read. */
const programFields: ReadonlySet<string> = new Set(["type", "id", "data", "signature"]);

/** Every string in a value, at any depth, in order. */
export function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => (programFields.has(key) ? [] : stringsIn(field)));
}

/** A part whose text or input may be replaced by a shorter one. */
export type EditablePart =
  | TextPart
  | {
      readonly type: "result";
      readonly callId: string;
      readonly text: string;
      /** The result holds nothing but this one text. */
      readonly isAll: boolean;
      readonly isError: boolean;
    }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly input: JsonFields };

/** Null for parts without readable content: reasoning, an image, a call with an input we cannot repeat. */
export function editablePart(part: Part): EditablePart | null {
  switch (part.type) {
    case "text":
      return part;
    case "result": {
      const texts = part.parts.filter((inner) => inner.type === "text");
      if (texts.length === 0) return null;
      const text = texts.map((inner) => inner.text).join("\n");
      const { callId, isError } = part;
      return { type: "result", callId, text, isAll: part.parts.length === 1, isError };
    }
    case "call": {
      const { id, name, input, isExact } = part;
      return isExact && isFields(input) ? { type: "call", id, name, input } : null;
    }
    default:
      return null;
  }
}

/** The outcome of reasoning in short: `said "I look there"`, `called read_file(auth.ts)`. */
export function outcomeLabel(part: Part): string {
  const call = namedCall(part);
  return call === null ? `said "${partText(part) ?? ""}"` : `called ${call.name}(${inputValues(call.input)})`;
}

/** A call by its tool and its input: `Read src/auth/token.ts`. Null if it is no call. */
export function callLabel(part: Part): string | null {
  const call = namedCall(part);
  return call === null ? null : `${call.name} ${inputValues(call.input)}`;
}

/** A client's tool definition in short: `tool Read: reads a file`. Null if it is none. */
export function toolLabel(part: Part): string | null {
  if (part.type !== "tool" || part.name === "") return null;
  return part.description === "" ? `tool ${part.name}` : `tool ${part.name}: ${part.description}`;
}

function namedCall(part: Part): { readonly name: string; readonly input: Json } | null {
  if (part.type === "call") return part;
  return part.type === "provider" && part.name !== null ? { name: part.name, input: part.input } : null;
}

/** The texts and numbers of an input, without their names. */
function inputValues(input: Json): string {
  const values = isFields(input) ? Object.values(input) : [];
  return values.filter((one) => typeof one === "string" || typeof one === "number").join(", ");
}

export function isFields(value: unknown): value is JsonFields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The bytes of a text that we write ourselves and store without a wire format. */
export function textContent(text: string): Buffer {
  return Buffer.from(JSON.stringify({ type: "text", text } satisfies TextPart));
}
