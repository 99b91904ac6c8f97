import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";
import type { InterceptOptions, Interceptor } from "../protocol.ts";
import type { WireAnswer } from "../wire.ts";
import { readWireAnswer } from "./answer.ts";
import { AnswerRounds, callOwner, isReasoningBlock } from "./answer-rounds.ts";
import { ClientBytes } from "./client-bytes.ts";
import { filterWholeText } from "./client-text.ts";
import { noAnswerText } from "./hide-calls.ts";
import { stringField, type WireFields, wireFields } from "./schema.ts";
import { stripMessage } from "./strip-events.ts";
import { emitBody } from "./write-body.ts";

type HeldMessage = {
  readonly bytes: Buffer;
  readonly members: readonly JsonMember[];
  /** The blocks that the client gets. */
  readonly shown: readonly Uint8Array[];
  /** Something was taken out. */
  readonly isFiltered: boolean;
};

/** The part of a block that the client gets; `shown` is null if it gets nothing. */
type ClientBlock = { readonly shown: Uint8Array | null; readonly isWhole: boolean };

/**
 * Intercepts answers that are one JSON message each. The client gets the last, with the content of all, once
 * it is whole; a message too large to be held passes unchanged.
 */
export class MessageInterceptor {
  readonly #options: InterceptOptions;
  readonly #mayHide: boolean;
  readonly #rounds = new AnswerRounds();
  /** The blocks of earlier rounds that the client gets. */
  readonly #earlierBlocks: Uint8Array[] = [];
  /** The bytes of this round, to be read; null once they are too many. */
  #bytes: Uint8Array[] | null = [];
  #length = 0;
  /** The answer of this round, once it was read. */
  #answer: WireAnswer | null = null;
  /** The message without our lines, and the part of it for the client; null until the round has ended. */
  #stripped: readonly Uint8Array[] | null = null;
  #message: HeldMessage | null = null;

  constructor(options: InterceptOptions) {
    const { isOwnTool, commandNonce } = options;
    this.#options = options;
    this.#mayHide = isOwnTool !== null || commandNonce !== null;
  }

  port(): Interceptor {
    return {
      push: (bytes) => this.push(bytes),
      // Nothing but the end of its body shows that a message is whole.
      hasStopped: () => false,
      answer: () => this.answer(),
      endRound: () => this.endRound(),
      isWaitingForUs: () => this.#message !== null && this.#rounds.isWaitingForUs,
      mayEndHere: () => this.#message !== null && this.#hasAnswer(this.#message),
      beginRound: () => this.beginRound(),
      end: () => this.end(),
    };
  }

  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (this.#bytes === null) return [bytes];
    this.#bytes.push(bytes);
    this.#length += bytes.length;
    if (this.#length > this.#options.bytesMax) {
      const all = this.#bytes;
      this.#bytes = null;
      return this.#isHeld() ? all : [bytes];
    }
    return this.#isHeld() ? [] : [bytes];
  }

  answer(): WireAnswer | null {
    if (this.#bytes === null) return null;
    this.#answer ??= readWireAnswer(Buffer.concat(this.#bytes), "application/json");
    return this.#answer;
  }

  /** Reads the message; it is passed on by `end`. */
  endRound(): readonly Uint8Array[] {
    const { ownLines } = this.#options;
    if (this.#stripped !== null || this.#bytes === null || !this.#isHeld()) return [];
    const bytes = Buffer.concat(this.#bytes);
    const out = new ClientBytes();
    if (ownLines === null) out.add(bytes);
    else out.addChunk(stripMessage(bytes, ownLines));
    this.#stripped = out.take();
    this.#message = this.#mayHide ? this.#readMessage(this.#stripped) : null;
    return [];
  }

  beginRound(): void {
    this.#earlierBlocks.push(...(this.#message?.shown ?? []));
    this.#rounds.beginRound();
    this.#bytes = [];
    this.#length = 0;
    this.#answer = null;
    this.#stripped = null;
    this.#message = null;
  }

  end(): readonly Uint8Array[] {
    this.endRound();
    const stripped = this.#stripped ?? [];
    this.#stripped = [];
    const message = this.#message;
    if (message === null || !(this.#rounds.hasEarlier || message.isFiltered)) return stripped;
    return this.#writeMessage(message);
  }

  /** The message is not passed on before it is whole. */
  #isHeld(): boolean {
    return this.#mayHide || this.#options.ownLines !== null;
  }

  #hasAnswer({ shown }: HeldMessage): boolean {
    return endsWithAnswer([...this.#earlierBlocks, ...shown]);
  }

  #readMessage(held: readonly Uint8Array[]): HeldMessage | null {
    const bytes = Buffer.concat(held);
    const value = valueRangeAt(bytes, skipSpace(bytes, 0));
    const members = value === null ? null : membersOf(bytes, value);
    const content = members?.find(({ key }) => key === "content");
    if (members === null || content === undefined) return null;
    const blocks = elementsOf(bytes, content.value.start)?.elements ?? [];
    const clientBlocks = blocks.map((range) => this.#clientBlock(bytes, range));
    const shown = clientBlocks.flatMap(({ shown: one }) => (one === null ? [] : [one]));
    const fields = parseEndFields(bytes, members);
    this.#rounds.noteUsage(fields["usage"], stringField(fields, "stop_reason"));
    return {
      bytes,
      members,
      shown,
      isFiltered: clientBlocks.some(({ isWhole }) => !isWhole),
    };
  }

  #clientBlock(bytes: Buffer, range: ByteRange): ClientBlock {
    const whole = { shown: bytes.subarray(range.start, range.end), isWhole: true };
    const block = wireFields(parseAt(bytes, range));
    const { isOwnTool, commandNonce: nonce } = this.#options;
    const owner = callOwner(block, isOwnTool ?? (() => false));
    if (owner !== null) this.#rounds.noteCall(owner === "own");
    if (owner === "own") return { shown: null, isWhole: false };
    const text = nonce !== null && stringField(block, "type") === "text" ? stringField(block, "text") : null;
    if (nonce === null || text === null) return whole;
    const { left, commands } = filterWholeText(text, nonce);
    this.#rounds.noteText(commands, left !== null);
    if (commands.length === 0) return whole;
    const filtered = left === null ? null : Buffer.from(JSON.stringify({ ...block, text: left }));
    return { shown: filtered, isWhole: false };
  }

  #writeMessage({ bytes, members, shown }: HeldMessage): readonly Uint8Array[] {
    const fields = parseEndFields(bytes, members);
    const blocks = [...this.#earlierBlocks, ...shown];
    const content = endsWithAnswer(blocks) ? blocks : [...blocks, noAnswerBlock];
    const stop = this.#rounds.stopFor(stringField(fields, "stop_reason"));
    const usage = this.#rounds.hasEarlier
      ? this.#rounds.usageFor(wireFields(fields["usage"]) ?? {})
      : fields["usage"];
    return emitBody(
      { bytes, members },
      new Map([
        ["content", listOf(content)],
        ["stop_reason", [Buffer.from(JSON.stringify(stop))]],
        ["usage", [Buffer.from(JSON.stringify(usage ?? {}))]],
      ]),
    );
  }
}

/** True if the last block is not reasoning: such an answer can be sent back. */
function endsWithAnswer(blocks: readonly Uint8Array[]): boolean {
  const last = blocks.at(-1);
  return last !== undefined && !isReasoningBlock(wireFields(JSON.parse(Buffer.from(last).toString())));
}

const noAnswerBlock = Buffer.from(JSON.stringify({ type: "text", text: noAnswerText }));
const endKeys = new Set(["usage", "stop_reason"]);

function parseEndFields(bytes: Buffer, members: readonly JsonMember[]): WireFields {
  const endMembers = members.filter(({ key }) => endKeys.has(key));
  return Object.fromEntries(endMembers.map(({ key, value }) => [key, parseAt(bytes, value)]));
}

function listOf(blocks: readonly Uint8Array[]): readonly Uint8Array[] {
  const pieces = blocks.flatMap((block, at) => (at === 0 ? [block] : [Buffer.from(","), block]));
  return [Buffer.from("["), ...pieces, Buffer.from("]")];
}
