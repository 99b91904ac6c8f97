import { elementsOf, type Member, membersOf, parseAt, type Range, skipSpace, valueAt } from "../json-scan.ts";
import { emitBody } from "./emit.ts";
import { type Interceptor, nothingSaid } from "./intercept.ts";
import { callIn, isReasoning, type OwnTool, Samplings } from "./samplings.ts";
import { type Fields, fieldsOf, textIn } from "./schema.ts";
import { siftedWhole } from "./sifted-text.ts";

/** The same for answers that are one JSON message each: the client gets the last, with what all have said. */
export function messageInterceptor(
  isOwn: OwnTool,
  bytesMax: number,
  nonce: string | null = null,
): Interceptor {
  const messages = new Messages(isOwn, bytesMax, nonce);
  return {
    push: (bytes) => messages.push(bytes),
    waits: () => messages.waits(),
    says: () => messages.says(),
    goOn: () => messages.goOn(),
    end: () => messages.end(),
  };
}

/** A message, looked into; null where it cannot be. */
type Message = {
  readonly bytes: Buffer;
  readonly members: readonly Member[];
  readonly shown: readonly Uint8Array[];
  /** Whether something was taken out. */
  readonly hides: boolean;
};

type Looked = { readonly shown: Uint8Array | null; readonly isWhole: boolean };

class Messages {
  readonly #isOwn: OwnTool;
  readonly #bytesMax: number;
  readonly #nonce: string | null;
  readonly #samplings = new Samplings();
  /** What earlier samplings have said to the client. */
  readonly #said: Uint8Array[] = [];
  #held: Uint8Array[] | null = [];
  #length = 0;
  #read: Message | null | undefined;

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

  waits(): boolean {
    return this.#message() !== null && this.#samplings.waits;
  }

  says(): boolean {
    const message = this.#message();
    return message !== null && isSaid([...this.#said, ...message.shown]);
  }

  goOn(): void {
    this.#said.push(...(this.#message()?.shown ?? []));
    this.#samplings.next();
    this.#held = [];
    this.#length = 0;
    this.#read = undefined;
  }

  end(): readonly Uint8Array[] {
    const message = this.#message();
    const held = this.#held ?? [];
    this.#held = null;
    if (message === null || !(this.#samplings.goesOn || message.hides)) return held;
    return this.#whole(message);
  }

  /** What has been held, read once it is whole. */
  #message(): Message | null {
    if (this.#read === undefined) this.#read = this.#held === null ? null : this.#look(this.#held);
    return this.#read;
  }

  #look(held: readonly Uint8Array[]): Message | null {
    const bytes = Buffer.concat(held);
    const value = valueAt(bytes, skipSpace(bytes, 0));
    const members = value === null ? null : membersOf(bytes, value);
    const content = members?.find(({ key }) => key === "content");
    if (members === null || content === undefined) return null;
    const blocks = elementsOf(bytes, content.value.start)?.elements ?? [];
    const looked = blocks.map((range) => this.#shownOf(bytes, range));
    const shown = looked.flatMap(({ shown: one }) => (one === null ? [] : [one]));
    const fields = fieldsIn(bytes, members);
    this.#samplings.note(fields["usage"], textIn(fields, "stop_reason"));
    return {
      bytes,
      members,
      shown,
      hides: looked.some(({ isWhole }) => !isWhole),
    };
  }

  /** What the client gets of a block; null: nothing. */
  #shownOf(bytes: Buffer, range: Range): Looked {
    const whole = { shown: bytes.subarray(range.start, range.end), isWhole: true };
    const block = fieldsOf(parseAt(bytes, range));
    const call = callIn(block, this.#isOwn);
    if (call !== null) this.#samplings.called(call === "own");
    if (call === "own") return { shown: null, isWhole: false };
    const text = this.#nonce !== null && textIn(block, "type") === "text" ? textIn(block, "text") : null;
    if (this.#nonce === null || text === null) return whole;
    const { left, commands } = siftedWhole(text, this.#nonce);
    this.#samplings.spoke(commands, left !== null);
    if (commands.length === 0) return whole;
    const written = left === null ? null : Buffer.from(JSON.stringify({ ...block, text: left }));
    return { shown: written, isWhole: false };
  }

  #whole({ bytes, members, shown }: Message): readonly Uint8Array[] {
    const fields = fieldsIn(bytes, members);
    const said = [...this.#said, ...shown];
    const content = isSaid(said) ? said : [...said, nothing];
    const stop = this.#samplings.stopFor(textIn(fields, "stop_reason"));
    const usage = this.#samplings.goesOn
      ? this.#samplings.usageFor(fieldsOf(fields["usage"]) ?? {})
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

/** Whether the last of some blocks says or asks for something. */
function isSaid(blocks: readonly Uint8Array[]): boolean {
  const last = blocks.at(-1);
  return last !== undefined && !isReasoning(fieldsOf(JSON.parse(Buffer.from(last).toString())));
}

const nothing = Buffer.from(JSON.stringify({ type: "text", text: nothingSaid }));
const small = new Set(["usage", "stop_reason"]);

function fieldsIn(bytes: Buffer, members: readonly Member[]): Fields {
  const read = members.filter(({ key }) => small.has(key));
  return Object.fromEntries(read.map(({ key, value }) => [key, parseAt(bytes, value)]));
}

function listOf(blocks: readonly Uint8Array[]): readonly Uint8Array[] {
  const pieces = blocks.flatMap((block, at) => (at === 0 ? [block] : [Buffer.from(","), block]));
  return [Buffer.from("["), ...pieces, Buffer.from("]")];
}
