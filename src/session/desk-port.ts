import type { ApertureError, Json } from "../base/index.ts";
import type { Mode, NextIds, Origin, Rendering, Shown } from "../engine/index.ts";
import type { ManifestFacts, Offer, ShownMemory } from "../render/index.ts";
import type { KnownBlock, Likeness, Numbered, Pieces, RequestCopy, SentReport } from "./exchange.ts";

export type { NextIds, Rendering } from "../engine/index.ts";
export type { KnownBlock, Numbered, SentReport, SentUnit } from "./exchange.ts";

/** A request as far as it is known before its body. */
export type Asking = Omit<RequestCopy, "body" | "length" | "sent"> & {
  /** What the client said the length of its body is; null where it did not. */
  readonly length: number | null;
  /** Whether the credential is a subscription's login and not a key: nothing may be added to its headers. */
  readonly isLogin: boolean;
};

/** What goes upstream in place of a body. */
export type Sending = {
  readonly request: string;
  readonly rendering: Rendering;
  /** The whole body, in order. Nobody changes these bytes afterwards. */
  readonly pieces: Pieces;
  readonly length: number;
  /** To be added to the `anthropic-beta` header where they are missing. */
  readonly betas: readonly string[];
  /** Whether a refusal with status 400 is to be shown to the desk before the client gets it. */
  readonly mayRetry: boolean;
  /** For the recorder; null where the body went up as it came. */
  readonly sent: SentReport | null;
  /** The body as one piece: what the recorder gets as the client's. */
  readonly clientBody: Uint8Array;
  readonly likeness: Likeness;
  /** Set where nothing may be sent: withheld content could not be taken out. The client gets this error. */
  readonly refusal: ApertureError | null;
  /** Set where the provider is to keep the talk. Nothing is sent; the client is told to send all of it. */
  readonly isThread?: true;
  /** Recognises lines of ours, which the client must not see in the answer. Null: it passes untouched. */
  readonly strips: Strips | null;
  /** Recognises tools of ours, whose calls the client must not see. Null: the model was offered none. */
  readonly isOwnTool: ((name: string) => boolean) | null;
  /** What marks command lines, which the client must not see either. Null: the model knows of none. */
  readonly textNonce: string | null;
};

/** Continues: a line that is ours where it follows one of ours directly, and content anywhere else. */
export type Strips = {
  readonly isOwn: (line: string) => boolean;
  /** Whether lines without a mark may follow it. */
  readonly opens: (line: string) => boolean;
  readonly continues: (line: string) => boolean;
};

/** What an answer asks of our tools. */
export type CommandsAsked = {
  /** The request it answers. */
  readonly request: string;
  readonly calls: readonly CommandCall[];
  /** What marks our lines. */
  readonly nonce: string;
  /** What may be done, unless the user has said otherwise for the session. */
  readonly mode: "observe" | "ask" | "auto";
  /** Whether new content that nobody vouches for speaks the language of commands. */
  readonly isTainted: boolean;
};
export type CommandCall = {
  readonly id: string;
  readonly name: string;
  readonly input: { readonly [key: string]: Json };
};
/** What a call of one of our tools came to, in words for the model. */
export type CommandResult = { readonly id: string; readonly text: string; readonly isError: boolean };

/** How an answer ended, with what the client got of it. */
export type Answering = {
  readonly status: number | null;
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly body: Pieces | null;
  readonly isComplete: boolean;
  /** Whether all that was sent has left, so that nobody reads it from memory any more. */
  readonly hasLeft: boolean;
};

/**
 * Where requests are taken and turned into what is sent. It lives on the thread that relays, keeps the
 * ledgers of live streams in memory, and asks others only for what it has forgotten.
 */
export type Desk = {
  /** Whether the body is needed whole before anything is sent. False: it is relayed as it comes. */
  readonly reads: (asking: Asking) => boolean;
  /** Why a body that nobody looks into must not be sent as it came; null: it may be. */
  readonly unread: (asking: Asking) => ApertureError | null;
  /** Memory for a body of so many bytes, to be filled and taken: the desk uses it again when it can. */
  readonly room: (length: number) => Buffer;
  /** Answers at once where it can, and within 250 ms in any case. Never rejects, never throws. */
  readonly take: (asking: Asking, body: Pieces) => Sending | Promise<Sending>;
  /** The upstream refused what was sent: another attempt, or null to pass the refusal on. Asked once. */
  readonly refused: (sending: Sending, body: Uint8Array) => Sending | null;
  /**
   * The answer to a sending has called our tools alone: what to send next for the same request, once they are
   * done. Null: nothing, and the client gets what there is. Asked once, after `answered`.
   */
  readonly goOn: (sending: Sending) => Promise<Sending | null>;
  /** To be called once for every sending, however it ended. */
  readonly answered: (sending: Sending, answer: Answering) => AnswerNumbers;
};

/** What the log tells the desk about a stream after each answer, so that it can render without asking. */
export type Briefing = {
  readonly line: string;
  readonly seq: number;
  /** The last turn it knows of. */
  readonly turn: number;
  readonly facts: ManifestFacts;
  /** What the provider has counted for each token we would have. */
  readonly rate: number;
  /** For the next header. */
  readonly names: readonly string[];
  /** Cold blocks that the last words of the user seem to ask for, if anybody has looked. */
  readonly offers?: readonly Offer[];
  /** What has come to be wanted otherwise since the briefing before; all of it where nobody was told yet. */
  readonly wanted: readonly WantedBlock[];
  /** Set once where the user wants that to be shown now, whatever it costs. */
  readonly isUrged?: true;
  /** Blocks that must not be shown shorter, even if there is no room. */
  readonly held: readonly number[];
  /** What the user said for the session about how much is done without asking; null: as configured. */
  readonly mode?: Mode | null;
  /** What was made to last in it, in the order it was said; absent where nothing was. */
  readonly memories?: readonly ShownMemory[];
  /** What must not be sent any more, by what recognises it; absent where that is as it was told before. */
  readonly withheld?: readonly string[];
};

/** About how large the line is that stands for a block which is pruned. */
export const prunedTokens = 40;

/** How a block is to be shown from the next rewrite on. */
export type WantedBlock = {
  readonly block: number;
  readonly as: Shown;
  /** What is shown of it: a text, or for a call another input. Neither: there is nothing shorter. */
  readonly text: string | null;
  readonly input: { readonly [key: string]: Json } | null;
  /** About how large that is. */
  readonly tokens: number;
  readonly reason: string;
};

/** What the blocks of an answer are called, in order; null where they are called nothing. */
export type AnswerNumbers = readonly (Numbered | null)[] | null;

/** A unit as it was sent. */
export type RememberedUnit = {
  readonly origin: Origin;
  readonly key: string;
  readonly bytes: string;
  /** Set where the provider was asked to leave it out. */
  readonly cleared?: true;
  /** The block it shows: its key may have come to mean another one. */
  readonly block?: KnownBlock;
  /** Where it was sent in other words than the client's: the content it stands for, and how much it shows. */
  readonly of?: {
    readonly content: string;
    readonly as: Shown;
    /** The content itself, where no body of the turns holds it. */
    readonly bytes?: Uint8Array;
  };
};

/** A turn as the log has it, for a desk that has forgotten it. */
export type RememberedTurn = {
  /** The body that went upstream, exact. */
  readonly body: Uint8Array;
  /** Its units in order: tools, system, messages. */
  readonly path: readonly RememberedUnit[];
  readonly answer: { readonly body: Uint8Array; readonly contentType: string } | null;
  readonly turn: number;
};
/** What the log knows of a stream: whether anything of ours was sent, and its last turns, oldest first. */
export type RememberedStream = {
  readonly talkName: string | null;
  readonly wasManaged: boolean;
  /** Whether there is such a stream, and not only the session it would be in. */
  readonly isKnown: boolean;
  readonly turns: readonly RememberedTurn[];
  /** The model it was last sent to. */
  readonly model: string | null;
  /** The last one. */
  readonly turn: number;
  /** Its blocks in the order they came, with what recognises them. */
  readonly blocks: readonly (KnownBlock & { readonly key: string })[];
  /** What its model is to be told; null where there is no such stream. */
  readonly briefing: Briefing | null;
  /** From here on no id of the session is taken. */
  readonly next: NextIds;
};
