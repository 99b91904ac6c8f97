import {
  type ByteRange,
  elementsOf,
  type JsonMember,
  membersOf,
  parseAt,
  skipSpace,
  valueRangeAt,
} from "../json-scan.ts";
import { AnswerRounds, callOwner, isReasoningBlock, type OwnTool } from "./answer-rounds.ts";
import { filterWholeText } from "./client-text.ts";
import { type Interceptor, noAnswerText } from "./intercept.ts";
import { stringField, type WireFields, wireFields } from "./schema.ts";
import { emitBody } from "./write-body.ts";

/** Intercepts answers that are one JSON message each: the client gets the last, with the content of all. */
export function messageInterceptor(
  isOwn: OwnTool,
  bytesMax: number,
  nonce: string | null = null,
): Interceptor {
  const interceptor = new MessageInterceptor(isOwn, bytesMax, nonce);
  return {
    push: (bytes) => interceptor.push(bytes),
    isWaitingForUs: () => interceptor.isWaitingForUs(),
    mayEndHere: () => interceptor.mayEndHere(),
    beginRound: () => interceptor.beginRound(),
    end: () => interceptor.end(),
  };
}

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

class MessageInterceptor {
  readonly #isOwn: OwnTool;
  readonly #bytesMax: number;
  readonly #nonce: string | null;
  readonly #rounds = new AnswerRounds();
  /** The blocks of earlier rounds that the client gets. */
  readonly #earlierBlocks: Uint8Array[] = [];
  /** The bytes of this round; null once they are too many or were given out. */
  #held: Uint8Array[] | null = [];
  #length = 0;
  /** The held message once it was read; null if it cannot be read. */
  #message: HeldMessage | null | undefined;

  constructor(isOwn: OwnTool, bytesMax: number, nonce: string | null) {
    this.#isOwn = isOwn;
    this.#nonce = nonce;
    this.#bytesMax = bytesMax;
  }

  push(bytes: Uint8Array): readonly Uint8Array[] {
    if (this.#held === null) return [bytes];
    this.#held.push(bytes);
    this.#length += bytes.length;
    if (this.#length <= this.#bytesMax) return [];
    const all = this.#held;
    this.#held = null;
    return all;
  }

  isWaitingForUs(): boolean {
    return this.#readHeld() !== null && this.#rounds.isWaitingForUs;
  }

  mayEndHere(): boolean {
    const message = this.#readHeld();
    return message !== null && endsWithAnswer([...this.#earlierBlocks, ...message.shown]);
  }

  beginRound(): void {
    this.#earlierBlocks.push(...(this.#readHeld()?.shown ?? []));
    this.#rounds.beginRound();
    this.#held = [];
    this.#length = 0;
    this.#message = undefined;
  }

  end(): readonly Uint8Array[] {
    const message = this.#readHeld();
    const held = this.#held ?? [];
    this.#held = null;
    if (message === null || !(this.#rounds.hasEarlier || message.isFiltered)) return held;
    return this.#writeMessage(message);
  }

  /** Reads the held bytes once they are whole. */
  #readHeld(): HeldMessage | null {
    if (this.#message === undefined)
      this.#message = this.#held === null ? null : this.#readMessage(this.#held);
    return this.#message;
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
    const owner = callOwner(block, this.#isOwn);
    if (owner !== null) this.#rounds.noteCall(owner === "own");
    if (owner === "own") return { shown: null, isWhole: false };
    const text =
      this.#nonce !== null && stringField(block, "type") === "text" ? stringField(block, "text") : null;
    if (this.#nonce === null || text === null) return whole;
    const { left, commands } = filterWholeText(text, this.#nonce);
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
