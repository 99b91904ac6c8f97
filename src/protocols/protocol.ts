import type { Part } from "../content/index.ts";
import type { BlockKind, ProtocolName } from "../engine/frames/index.ts";
import type { ByteRange } from "./json-scan.ts";
import type { AnswerUnit, UnitWrapper, WireGroup, WireRequest, WireUnit } from "./wire.ts";

/**
 * A wire format: everything that differs between model APIs. The layers above know units with neutral parts
 * and never a field of a body. See docs/decisions/protocol-port.md for what each format needs.
 */
export type Protocol = {
  readonly name: ProtocolName;
  readonly read: RequestReader;
  readonly write: RequestWriter;
  readonly traits: ProtocolTraits;
  readonly refusals: RefusalReader;
};

/** A request asks the model, or asks how many tokens it would have. */
export type RequestKind = "ask" | "count";

export type RequestReader = {
  /** The kind of a request by its method and its path. Null if this format does not read it. */
  readonly kindOf: (method: string, target: string) => RequestKind | null;
  /**
   * Reads a body. Parts that `previous` has too, byte for byte, are taken over from it, so the cost grows
   * only with the new content. Null if the body cannot be read: the provider judges it, and it is stored as
   * bytes.
   */
  readonly request: (body: Uint8Array, previous: WireRequest | null) => WireRequest | null;
  /** The content of a unit. Bytes that are no unit are an opaque part. */
  readonly part: (bytes: Uint8Array) => Part;
  /** The text of a text unit. Null for any other unit. */
  readonly text: (bytes: Uint8Array) => string | null;
  /** The type of a unit in the words of the format, for people. Null if it names none. */
  readonly wireType: (bytes: Uint8Array) => string | null;
  /** The bytes of a unit by what the model makes of them, in their order. Found without parsing. */
  readonly stretches: (bytes: Uint8Array, kind: BlockKind) => readonly UnitStretch[];
  /** What a field of a body holds. */
  readonly fieldUse: (name: string) => BodyFieldUse;
  /** Whether two copies of a unit have the same content although their bytes differ. */
  readonly isSame: (known: Uint8Array, copy: Uint8Array, tolerance: Tolerance) => boolean;
  /** Whether a client renamed a call because it does not know the tool. */
  readonly isRenamedCall: (bytes: Uint8Array) => boolean;
};

/** A stretch of a unit: text, an image or file in base64, or reasoning whose text is not visible. */
export type UnitStretch = ByteRange & { readonly type: "text" | "media" | "hidden" };

/** The units of a section, a setting that we change at times, or anything else. */
export type BodyFieldUse = WireUnit["section"] | "answer-limit" | "automatic-mark" | "context-edit" | "other";

/** Differences between two copies of a unit that count as none. */
export type Tolerance = {
  /** Clients take more liberties with what the model said. */
  readonly role: string;
  /** Recognises a line of ours in a text of the model. */
  readonly isOwnLine: (line: string) => boolean;
};

/** New content for a unit: a text, or for a call another input. */
export type UnitReplacement =
  | { readonly text: string; readonly keepsMedia: boolean }
  | { readonly input: Extract<Part, { type: "call" }>["input"] };

export type ToolResultInput = { readonly callId: string; readonly text: string; readonly isError: boolean };

/** A tool of ours, as every format can describe it. */
export type ToolDefinition = {
  readonly name: string;
  readonly description: string;
  readonly schema: { readonly [key: string]: unknown };
};

/** Bytes in order; unchanged parts are slices of the client's body. */
export type EmittedPieces = readonly Uint8Array[];

/** A unit of a list with its cache mark, as JSON, or none. */
export type MarkedUnit = { readonly bytes: Uint8Array; readonly mark: string | null };

/** A cache mark for the unit that ends at `end`. */
export type PlacedMark = { readonly end: number; readonly mark: string };

/** The parts of a body that are written in place of the client's. An absent part stays as it came. */
export type BodyParts = {
  readonly tools?: EmittedPieces | undefined;
  readonly system?: EmittedPieces | undefined;
  /** All messages without the bracket that opens their list. */
  readonly messages?: EmittedPieces;
  readonly answerTokensMax?: number | undefined;
  /** The mark for the last unit is placed by us, so the client's wish for it is left out. */
  readonly dropsAutomaticMark?: boolean;
  readonly edit?: ContextEdit | null;
};

/** Asks the provider to leave out tool results. */
export type ContextEdit = {
  /** The field of the body, as JSON. */
  readonly field: string;
  /** The number of results that the provider should report as left out. */
  readonly cleared: number;
};

/** One tool use of a request; `isCleared` if its result is to be left out. */
export type ToolUse = {
  readonly name: string;
  /** The client runs the tool, not the provider. */
  readonly isClients: boolean;
  /** Calls of one message have the same number. */
  readonly message: number;
  readonly isCleared: boolean;
};

export type RequestWriter = {
  readonly text: (text: string) => Uint8Array;
  readonly result: (result: ToolResultInput) => AnswerUnit;
  readonly tool: (tool: ToolDefinition) => Uint8Array;
  /** A message of this role that we write ourselves. */
  readonly message: (role: "user" | "assistant") => UnitWrapper;
  /** A system message between the others; the model sees a self-clearing one for a single turn. */
  readonly systemMessage: (isSelfClearing: boolean) => UnitWrapper;
  /**
   * The unit with other content. Its identity stays: its type, its id and the call it answers. Null if the
   * unit cannot hold the content.
   */
  readonly replace: (unit: Uint8Array, replacement: UnitReplacement) => Uint8Array | null;
  /** The unit with every string in it replaced for which `change` returns another. Null if none was. */
  readonly replaceStrings: (unit: Uint8Array, change: (text: string) => string | null) => Uint8Array | null;
  /** A unit of the same type that says only this: a call without input, a result with this text. */
  readonly emptied: (unit: Uint8Array, text: string) => Uint8Array;
  /** Puts a text first inside a tool result, and changes no other byte. Null if it is no such result. */
  readonly prependToResult: (unit: Uint8Array, text: string) => Uint8Array | null;
  /** A list of units, each with its mark. */
  readonly list: (units: readonly MarkedUnit[]) => EmittedPieces;
  /** Bytes that hold units, with marks on some of them. */
  readonly marked: (bytes: Buffer, marks: readonly PlacedMark[]) => EmittedPieces;
  /** The client's own unit with its mark. */
  readonly clientUnit: (request: WireRequest, group: WireGroup, unit: WireUnit) => Uint8Array;
  readonly body: (request: WireRequest, parts: BodyParts) => EmittedPieces;
  /** The edit that leaves out exactly the cleared results. Null if no edit can do that. */
  readonly contextEdit: (uses: readonly ToolUse[]) => ContextEdit | null;
};

/** The traits of a model that decide how our notes may reach it. */
export type ModelTraits = {
  /** Its reasoning is bound to everything before it: an edited history is refused. */
  readonly isBound: boolean;
  /**
   * It takes system messages between the others, also ones that clear themselves at the next user message.
   */
  readonly hasMidSystem: boolean;
};

/** Something in a body of ours for which the provider wants a header. */
export type BodyFeature = "self-clearing" | "context-edit";

export type ProtocolTraits = {
  readonly model: (model: string | null) => ModelTraits;
  /** The provider refuses more cache marks. */
  readonly marksMax: number;
  /** The text for a client that would get no block, or only reasoning at the end. */
  readonly noAnswerText: string;
  /** The value that a feature needs in the header for betas. */
  readonly betaFor: (feature: BodyFeature) => string;
};

/** Why a provider refused a request: its reasoning, the edit it was asked for, or anything else. */
export type RefusalReason = "reasoning" | "edit" | "other";

export type RefusalReader = {
  readonly reasonOf: (body: Uint8Array) => RefusalReason;
};
