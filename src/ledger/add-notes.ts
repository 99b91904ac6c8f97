import { type HeaderMode, memoryLine, memoryMark, type ShownMemory } from "../notes/index.ts";
import type { ModelTraits, Protocol, UnitWrapper } from "../protocols/index.ts";
import { isOwn, type LedgerNode, nodeBytes, pathTo, type UnitFacts } from "./node.ts";
import type { ReshownBlock, SizedBlock } from "./path-blocks.ts";
import { ownTextUnit, type PlannedUnit } from "./planned-units.ts";
import type { CommandForm } from "./request-head.ts";

/** The content of one request's notes, wherever they stand. */
export type NoteContext = {
  readonly headers: HeaderMode;
  /** How a model commands whose head is opened now. */
  readonly commands: CommandForm;
  readonly timeMs: number;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
  /** Tokens by the provider's count for each token of ours. */
  readonly tokenRate: number;
  /** Names for the next header. */
  readonly names: readonly string[];
  /** Memories that every request must contain, whether an earlier unit has them or not. */
  readonly memories: readonly ShownMemory[];
  /** Writes the changing tail for a carrier. Null if there is nothing to say. */
  readonly writeTail: (input: TailInput) => string | null;
};

export type TailInput = {
  readonly carrier: Carrier;
  readonly turn: number;
  /** Whether the tail must repeat what earlier tails said. */
  readonly isEpochStart: boolean;
  /** The new blocks of this request. */
  readonly freshBlocks: readonly SizedBlock[];
  /** All blocks before them. Called if they differ from the last request, or the log has not counted them. */
  readonly pathBlocks: () => readonly SizedBlock[];
  /** Whether the request continues the last one that was sent. */
  readonly isNext: boolean;
  /** The blocks that are shown otherwise from this request on. */
  readonly reshownBlocks: () => readonly ReshownBlock[];
};

/**
 * How the tail reaches the model. Clearing: a system message that is shown for one turn and stays in the
 * transcript. Dropped: a last text that is left out of the next request. Kept: a text that stays, so it is
 * sent only when it says something new.
 */
export type Carrier = "clearing" | "dropped" | "kept" | "none";

export type NotesInput = {
  readonly protocol: Protocol;
  /** The client's new units. */
  readonly units: readonly PlannedUnit[];
  /** The last node before them. */
  readonly lastNode: LedgerNode;
  readonly instructions: string;
  readonly addHeaders: (units: readonly PlannedUnit[]) => readonly PlannedUnit[];
  readonly writeTail: (carrier: Carrier) => string | null;
  readonly traits: ModelTraits;
  /** Whether the client sends the HTTP header that self-clearing messages need, or we may add it. */
  readonly mayClear: boolean;
  /** Whether the instructions must be added now, because neither head nor path has them. */
  readonly needsInstructions: boolean;
  /** A turn gets all notes, a count those that stay, any other request none. */
  readonly purpose: "turn" | "count" | "aside";
};

export type NotesResult = {
  /** The client's units with our notes among them. */
  readonly units: readonly PlannedUnit[];
  /** A last text inside the last message, for this request only. */
  readonly droppedTail: string | null;
};

export function addNotes(input: NotesInput): NotesResult {
  if (input.purpose === "aside") return { units: input.units, droppedTail: null };
  // There are no headers before the model has read the instructions that explain them.
  const headed = input.needsInstructions ? input.units : input.addHeaders(input.units);
  const count = headed.findLastIndex(({ facts, wrapping }) => !isEmptyMessage(facts, wrapping.role)) + 1;
  const wrapping = headed[count - 1]?.wrapping ?? input.lastNode.wrapping;
  const isOpen = count > 0 || !isEmptyMessage(input.lastNode.facts, wrapping.role);
  const empty = headed.slice(count);
  const noted = addLastNote(input, { units: headed.slice(0, count), wrapping, isOpen });
  // A dropped tail comes last of all, so it cannot precede a message without content.
  return { units: [...noted.units, ...empty], droppedTail: empty.length > 0 ? null : noted.droppedTail };
}

/** Whether a message has no content, such as a change of effort: nothing can be added to it. */
function isEmptyMessage({ part }: UnitFacts, role: string): boolean {
  return part === "empty" && role === "system";
}

type MessageEnd = {
  readonly units: readonly PlannedUnit[];
  /** The wrapping of the last message with content. */
  readonly wrapping: UnitWrapper;
  /** Whether a text can be added inside that message. */
  readonly isOpen: boolean;
};

function addLastNote(input: NotesInput, { units, wrapping, isOpen }: MessageEnd): NotesResult {
  if (input.needsInstructions) return addInstructions(input, { units, wrapping, isOpen });
  const unchanged: NotesResult = { units, droppedTail: null };
  if (input.purpose === "count") return unchanged;
  const carrier = chooseCarrier(input, wrapping.role);
  if (carrier === "none" || (!isOpen && carrier !== "clearing")) return unchanged;
  const text = input.writeTail(carrier);
  if (text === null) return unchanged;
  if (carrier === "dropped") return { ...unchanged, droppedTail: text };
  const tail =
    carrier === "clearing"
      ? ownMessage(input.protocol, text, true)
      : ownTextUnit(input.protocol, text, { wrapping, opensMessage: false });
  return { ...unchanged, units: [...units, tail] };
}

function chooseCarrier({ traits, mayClear }: NotesInput, lastRole: string): Carrier {
  if (lastRole === "assistant" || lastRole === "") return "none";
  if (!traits.isBound) return "dropped";
  return traits.hasMidSystem && mayClear && lastRole === "user" ? "clearing" : "kept";
}

/** Adds late instructions after the last unit, as a system message if the model takes one there. */
function addInstructions(
  { protocol, instructions, traits }: NotesInput,
  { units, wrapping, isOpen }: MessageEnd,
): NotesResult {
  const isMessage = traits.hasMidSystem && wrapping.role === "user";
  const isPossible = isMessage || (isOpen && (wrapping.role === "user" || wrapping.role === "system"));
  if (!isPossible) return { units, droppedTail: null };
  const unit = isMessage
    ? ownMessage(protocol, instructions, false)
    : ownTextUnit(protocol, instructions, { wrapping, opensMessage: false });
  // It counts as a header, so that no later header announces the blocks before it.
  return { units: [...units, { ...unit, isHeader: true }], droppedTail: null };
}

function ownMessage(protocol: Protocol, text: string, isSelfClearing: boolean): PlannedUnit {
  const wrapping = protocol.write.systemMessage(isSelfClearing);
  return ownTextUnit(protocol, text, { wrapping, opensMessage: true });
}

/**
 * Writes the memories that no unit of ours contains. The call that made a memory contains it until a rewrite
 * leaves that call out. A memory of the user has no such call.
 */
export function missingMemories(
  memories: readonly ShownMemory[],
  { end, units }: { readonly end: LedgerNode; readonly units: readonly PlannedUnit[] },
  nonce: string,
): readonly string[] {
  if (memories.length === 0) return [];
  const own = [...pathTo(end).filter(isOwn).map(nodeBytes), ...units.filter(isOwn).map(({ bytes }) => bytes)];
  const buffers = own.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const isPresent = ({ block, text }: ShownMemory): boolean => {
    const needles = [memoryMark(block, nonce), JSON.stringify(text).slice(1, -1)];
    return buffers.some((bytes) => needles.some((needle) => bytes.includes(needle)));
  };
  return memories.filter((memory) => !isPresent(memory)).map((memory) => memoryLine(memory, nonce));
}
