import type { Json } from "../base/index.ts";
import type { Part } from "../content/index.ts";
import type { BlockKind, ProtocolName } from "../engine/frames/index.ts";
import type { ByteRange } from "./json-scan.ts";
import type { AnswerUnit, UnitWrapper, WireAnswer, WireGroup, WireRequest, WireUnit } from "./wire.ts";

/**
 * A wire format: everything that differs between model APIs. The layers above know units with neutral parts
 * and never a field of a body. See docs/decisions/protocol-port.md for what each format needs.
 */
export type Protocol = {
  readonly name: ProtocolName;
  readonly read: RequestReader;
  readonly write: RequestWriter;
  readonly answer: AnswerCodec;
  readonly traits: ProtocolTraits;
  readonly refusals: RefusalCodec;
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
  /** The kind of content in a field of a body. */
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

export type ToolResultInput = {
  readonly callId: string;
  /** A text, or blocks in the format's own form. */
  readonly content: string | readonly Json[];
  readonly isError: boolean;
};

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

/** A request that we write ourselves, by the bytes of its units. */
export type RequestInput = {
  readonly model: string;
  readonly answerTokensMax: number;
  readonly tools: readonly Uint8Array[];
  /** The prefix up to the last one is marked for the cache. */
  readonly system: readonly Uint8Array[];
  readonly messages: readonly WritableGroup[];
};

export type WritableGroup = {
  readonly role: "user" | "assistant";
  readonly units: readonly Uint8Array[];
  /** The index of the unit that ends a cached prefix. Null if none does. */
  readonly markedUnit: number | null;
};

export type RequestWriter = {
  readonly request: (input: RequestInput) => Buffer;
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

/** An error of ours, for a client of this format. */
export type ErrorInput = { readonly status: number; readonly message: string; readonly requestId: string };

export type RefusalCodec = {
  readonly reasonOf: (body: Uint8Array) => RefusalReason;
  /** An error of ours as the body of an answer. */
  readonly errorBody: (input: ErrorInput) => string;
  /** An error of ours as the last event of an answer that has begun. */
  readonly errorEvent: (input: Omit<ErrorInput, "requestId">) => Uint8Array;
  /** The error in the body of a refusal as the last event of an answer that has begun. */
  readonly refusalEvent: (body: Buffer) => Uint8Array;
  /** Tells a client that lets the provider keep the conversation to send all of it. */
  readonly threadRefusal: (requestId: string) => string;
};

export type AnswerCodec = {
  /** Reads a whole answer: events, one message, or an error. */
  readonly read: (body: Uint8Array, contentType: string) => WireAnswer;
  /** Reads an answer as it comes, and yields the client's part of it. Null if its form is not read. */
  readonly intercept: (contentType: string, options: InterceptOptions) => Interceptor | null;
  /** Whether these last bytes of an answer contain its end. */
  readonly endsWithStop: (chunks: readonly Buffer[]) => boolean;
  /** Keeps the connection of a waiting client alive. */
  readonly ping: () => Uint8Array;
};

/** Recognises our lines, and lines that are ours only behind one of ours: those carry no nonce. */
export type OwnLineRules = {
  readonly isOwn: (line: string) => boolean;
  /** Lines without a nonce may follow this one. */
  readonly opens: (line: string) => boolean;
  readonly continues: (line: string) => boolean;
};

/**
 * Reads an answer of the upstream once, as its bytes come. It yields the bytes for the client, without our
 * lines, calls of our tools and command lines, and the answer itself for planner and recorder. Several rounds
 * become one answer of the client.
 */
export type Interceptor = {
  /** Takes bytes cut anywhere; returns the bytes that the client gets by now. */
  readonly push: (bytes: Uint8Array) => readonly Uint8Array[];
  /** The last event of the round has come; the end of its body may still be missing. */
  readonly hasStopped: () => boolean;
  /** The answer of this round as far as it has come; null if it is too large to be read. */
  readonly answer: () => WireAnswer | null;
  /** The round has ended; returns the bytes of a line that was not decided. */
  readonly endRound: () => readonly Uint8Array[];
  /** The round that ended has only commands for us, and waits for their results. */
  readonly isWaitingForUs: () => boolean;
  /** The content that the client has got so far is an answer by itself. */
  readonly mayEndHere: () => boolean;
  /** Begins another round, which continues the same message. */
  readonly beginRound: () => void;
  /** Ends the client's answer; returns the bytes that were held. */
  readonly end: () => readonly Uint8Array[];
};

export type InterceptOptions = {
  /** Recognises our lines; null if the model was told none. */
  readonly ownLines: OwnLineRules | null;
  /** Recognises our tools; null if the model has none of them. */
  readonly isOwnTool: ((name: string) => boolean) | null;
  /** Marks command lines; null if the model knows of none. */
  readonly commandNonce: string | null;
  /** A longer answer passes without being read, and a longer message without being changed. */
  readonly bytesMax: number;
};
