import { assert, must } from "../../base/index.ts";
import { asBuffer, type BodyOverlap } from "../../exchange/index.ts";
import { sharedMessageCount, type WireGroup, type WireRequest } from "../../protocols/index.ts";

const heldBytesMax = 64 * 1024 * 1024;

/** A body as bytes of the body before in its stream, which the receiving thread holds, and the rest. */
export type BodyPatch = {
  readonly streamKey: string | null;
  /** The request before in the stream, and how many bytes of its body stand before and behind the rest. */
  readonly baseRequest: string | null;
  readonly sharedBytes: number;
  readonly sharedEndBytes: number;
  readonly rest: Uint8Array;
  /** The body as it was read, in terms of the one before. Null if it was not read. */
  readonly read: ReadPatch | null;
  /** Bodies that the receiver can drop: no patch will refer to them. */
  readonly dropped: readonly HeldBody[];
};
type HeldBody = { readonly streamKey: string; readonly request: string };

/** A read request without its bytes, and without the parts that the request before has too. */
export type ReadPatch = Omit<WireRequest, "bytes" | "messages" | "messageKeys" | "tools" | "system"> & {
  /** The number of messages that are taken over from the request before, and of the units in them. */
  readonly keptMessages: number;
  readonly keptUnits: number;
  readonly messages: readonly WireGroup[];
  readonly tools: SectionPatch;
  readonly system: SectionPatch;
};
/** A section; `units` is null if they are those of the request before. */
type SectionPatch = Omit<WireGroup, "units"> & { readonly units: WireGroup["units"] | null };

type PostedBody = {
  readonly request: string;
  readonly length: number;
  readonly read: ReadParts | null;
};
/** The parts of a read request that the next one may share. Its bytes are reused, so they are not kept. */
type ReadParts = Pick<WireRequest, "messages" | "tools" | "system">;

/** A body to send, and the request that was read from it. */
export type BodyToSend = {
  readonly request: string;
  readonly body: Uint8Array;
  readonly read: WireRequest | null;
};

/**
 * Knows which bodies the receiving thread holds, so that only the new bytes and units of the next body in a
 * stream are sent. The sender decides what the receiver keeps. When the two may disagree, the sender is
 * cleared, and bodies are sent whole again.
 */
export class BodySender {
  /** The last body of each stream; the most recently used stream comes last. */
  readonly #held = new Map<string, PostedBody>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number = heldBytesMax) {
    this.#bytesMax = bytesMax;
  }

  clear(): void {
    this.#held.clear();
    this.#bytes = 0;
  }

  /** Bytes of a body that the receiver has already. */
  heldBytes(overlap: BodyOverlap): number {
    const { sharedBytes, sharedEndBytes } = this.#sharedBytes(overlap);
    return sharedBytes + sharedEndBytes;
  }

  /** Contract: the caller sends every patch, or clears the sender. */
  patchFor({ request, body, read }: BodyToSend, overlap: BodyOverlap): BodyPatch {
    const { streamKey, baseRequest } = overlap;
    const shared = this.#sharedBytes(overlap);
    const end = body.length - shared.sharedEndBytes;
    const rest = new Uint8Array(body.subarray(shared.sharedBytes, end));
    const before = this.#heldFor(overlap)?.read ?? null;
    const patch = { streamKey, baseRequest, ...shared, rest, read: read && readPatch(read, before) };
    if (streamKey === null) return { ...patch, dropped: [] };
    this.#drop(streamKey);
    this.#held.set(streamKey, { request, length: body.length, read: read && partsOf(read) });
    this.#bytes += body.length;
    return { ...patch, dropped: this.#makeRoom(streamKey) };
  }

  #heldFor({ streamKey, baseRequest }: BodyOverlap): PostedBody | null {
    const held = streamKey === null ? undefined : this.#held.get(streamKey);
    return held !== undefined && held.request === baseRequest ? held : null;
  }

  #sharedBytes(overlap: BodyOverlap): Pick<BodyPatch, "sharedBytes" | "sharedEndBytes"> {
    const held = this.#heldFor(overlap);
    if (held === null) return { sharedBytes: 0, sharedEndBytes: 0 };
    const { sharedBytes, sharedEndBytes } = overlap;
    assert(sharedBytes + sharedEndBytes <= held.length, "a body shares no more than the one before has");
    return { sharedBytes, sharedEndBytes };
  }

  #drop(streamKey: string): void {
    this.#bytes -= this.#held.get(streamKey)?.length ?? 0;
    this.#held.delete(streamKey);
  }

  #makeRoom(latest: string): readonly HeldBody[] {
    const dropped: HeldBody[] = [];
    for (const [streamKey, { request }] of this.#held) {
      if (this.#bytes <= this.#bytesMax || streamKey === latest) break;
      this.#drop(streamKey);
      dropped.push({ streamKey, request });
    }
    return dropped;
  }
}

function partsOf({ messages, tools, system }: WireRequest): ReadParts {
  return { messages, tools, system };
}

function readPatch(read: WireRequest, before: ReadParts | null): ReadPatch {
  const { bytes: _, messages, messageKeys, tools, system, ...facts } = read;
  const keptMessages = sharedMessageCount(read, before);
  const fresh = messages.slice(keptMessages);
  const keptUnits = messageKeys.length - fresh.reduce((sum, { units }) => sum + units.length, 0);
  const section = (group: WireGroup, old: WireGroup | undefined): SectionPatch =>
    group.units === old?.units ? { ...group, units: null } : group;
  return {
    ...facts,
    keptMessages,
    keptUnits,
    messages: fresh,
    tools: section(tools, before?.tools),
    system: section(system, before?.system),
  };
}

/** A body as the receiving thread has it, and the request that the sending thread read from it. */
export type RestoredBody = { readonly body: Buffer; readonly read: WireRequest | null };

/**
 * Restores bodies from patches, in the thread that receives them. Patches may be restored in another order.
 */
export class BodyReceiver {
  readonly #bodies = new Map<string, RestoredBody & { readonly request: string }>();
  /** Requests whose bodies must be dropped as soon as they are restored, by stream. */
  readonly #toDrop = new Map<string, string>();

  /** Returns the whole body of a request. Throws if the base body is no longer held. */
  restore(request: string, patch: BodyPatch): RestoredBody {
    const { streamKey, sharedBytes, sharedEndBytes, rest, dropped } = patch;
    for (const old of dropped) this.#drop(old.streamKey, old.request);
    const isPatch = sharedBytes + sharedEndBytes > 0 || (patch.read !== null && refersToBase(patch.read));
    const base = isPatch ? this.#base(patch) : null;
    const end = base === null ? 0 : base.body.length;
    const body =
      base === null
        ? asBuffer(rest)
        : Buffer.concat([base.body.subarray(0, sharedBytes), rest, base.body.subarray(end - sharedEndBytes)]);
    const read = patch.read === null ? null : restoreRead(patch.read, body, base?.read ?? null);
    if (streamKey !== null) this.#hold(streamKey, { request, body, read });
    return { body, read };
  }

  #base({ streamKey, baseRequest, sharedBytes, sharedEndBytes }: BodyPatch): RestoredBody {
    const held = must(this.#bodies.get(streamKey ?? ""), "the body before is here");
    const isMeant = held.request === baseRequest && held.body.length >= sharedBytes + sharedEndBytes;
    assert(isMeant, "it is the one that is meant");
    return held;
  }

  #hold(streamKey: string, received: RestoredBody & { readonly request: string }): void {
    if (this.#toDrop.get(streamKey) === received.request) this.#bodies.delete(streamKey);
    else this.#bodies.set(streamKey, received);
    this.#toDrop.delete(streamKey);
  }

  #drop(streamKey: string, request: string): void {
    if (this.#bodies.get(streamKey)?.request === request) this.#bodies.delete(streamKey);
    else this.#toDrop.set(streamKey, request);
  }
}

function refersToBase({ keptMessages, tools, system }: ReadPatch): boolean {
  return keptMessages > 0 || tools.units === null || system.units === null;
}

function restoreRead(patch: ReadPatch, bytes: Buffer, before: WireRequest | null): WireRequest {
  const { keptMessages, keptUnits, messages, tools, system, ...facts } = patch;
  const section = (part: SectionPatch, old: WireGroup | undefined): WireGroup => {
    const units = part.units ?? must(old, "the request before has it").units;
    return { ...part, units };
  };
  const freshKeys = messages.flatMap(({ units }) => units.map(({ key }) => key));
  return {
    ...facts,
    bytes,
    messages: [...(before?.messages.slice(0, keptMessages) ?? []), ...messages],
    messageKeys: [...(before?.messageKeys.slice(0, keptUnits) ?? []), ...freshKeys],
    tools: section(tools, before?.tools),
    system: section(system, before?.system),
  };
}
