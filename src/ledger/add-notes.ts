import { instructions, memoryLine, memoryMark, type ShownMemory } from "../notes/index.ts";
import type { ModelTraits, Protocol, UnitWrapper } from "../protocols/index.ts";
import { addHeaders, type HeaderInput } from "./block-headers.ts";
import { pathTo } from "./ledger-tree.ts";
import { isOwn, type LedgerNode, nodeBytes, type UnitFacts } from "./node.ts";
import type { PathBefore } from "./path-blocks.ts";
import { ownTextUnit, type PlannedUnit } from "./planned-units.ts";
import { type Carrier, type TailInput, type TailState, writeTail } from "./write-tail.ts";

export type NotesInput = {
  readonly protocol: Protocol;
  /** The client's new units. */
  readonly units: readonly PlannedUnit[];
  /** The last node before them. */
  readonly lastNode: LedgerNode;
  readonly header: HeaderInput;
  readonly tail: TailInput;
  readonly traits: ModelTraits;
  /** Whether the client sends the HTTP header that self-clearing messages need, or we may add it. */
  readonly mayClear: boolean;
  readonly keepsTail: boolean;
  /** Whether the instructions must be added now, because neither head nor path has them. */
  readonly needsInstructions: boolean;
  /** A turn gets all notes, a count those that stay, any other request none. */
  readonly notes: "all" | "lasting" | "none";
};

export type NotesResult = {
  /** The client's units with our notes among them. */
  readonly units: readonly PlannedUnit[];
  /** A last text inside the last message, for this request only. */
  readonly droppedTail: string | null;
  /** The next tail is written from this state. */
  readonly tailState: TailState;
};

export function addNotes(input: NotesInput): NotesResult {
  const { state: tailState } = input.tail;
  if (input.notes === "none") return { units: input.units, droppedTail: null, tailState };
  // There are no headers before the model has read the instructions that explain them.
  const headed = input.needsInstructions ? input.units : addHeaders(input.header, input.units);
  const count = headed.findLastIndex(({ facts, wrapping }) => !isEmptyMessage(facts, wrapping.role)) + 1;
  const wrapping = headed[count - 1]?.wrapping ?? input.lastNode.wrapping;
  const isOpen = count > 0 || !isEmptyMessage(input.lastNode.facts, wrapping.role);
  const empty = headed.slice(count);
  const noted = addLastNote(input, { units: headed.slice(0, count), wrapping, isOpen });
  // A dropped tail comes last of all, so it cannot precede a message without content.
  const droppedTail = empty.length > 0 ? null : noted.droppedTail;
  return { ...noted, units: [...noted.units, ...empty], droppedTail };
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
  const unchanged: NotesResult = { units, droppedTail: null, tailState: input.tail.state };
  if (input.notes === "lasting") return unchanged;
  const carrier = chooseCarrier(input, wrapping.role);
  if (carrier === "none" || (!isOpen && carrier !== "clearing")) return unchanged;
  const { text, state: tailState } = writeTail(input.tail, carrier);
  if (text === null) return { ...unchanged, tailState };
  if (carrier === "dropped") return { units, droppedTail: text, tailState };
  const tail =
    carrier === "clearing"
      ? ownMessage(input.protocol, text, true)
      : ownTextUnit(input.protocol, text, { wrapping, opensMessage: false });
  return { units: [...units, tail], droppedTail: null, tailState };
}

function chooseCarrier({ traits, mayClear, keepsTail }: NotesInput, lastRole: string): Carrier {
  if (lastRole === "assistant" || lastRole === "") return "none";
  if (keepsTail) return "kept";
  if (!traits.isBound) return "dropped";
  return traits.hasMidSystem && mayClear && lastRole === "user" ? "clearing" : "kept";
}

/** Adds late instructions after the last unit, as a system message if the model takes one there. */
function addInstructions(
  { protocol, traits, header: { nonce }, tail: { state: tailState } }: NotesInput,
  { units, wrapping, isOpen }: MessageEnd,
): NotesResult {
  const isMessage = traits.hasMidSystem && wrapping.role === "user";
  const isPossible = isMessage || (isOpen && (wrapping.role === "user" || wrapping.role === "system"));
  if (!isPossible) return { units, droppedTail: null, tailState };
  // Tools cannot be added any more, so the text does not offer them.
  const text = instructions(nonce, { hasTools: false });
  const unit = isMessage
    ? ownMessage(protocol, text, false)
    : ownTextUnit(protocol, text, { wrapping, opensMessage: false });
  // It counts as a header, so that no later header announces the blocks before it.
  return { units: [...units, { ...unit, isHeader: true }], droppedTail: null, tailState };
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
  { tree, end, units }: Omit<PathBefore, "head">,
  nonce: string,
): readonly string[] {
  if (memories.length === 0) return [];
  const own = [
    ...pathTo(tree, end).filter(isOwn).map(nodeBytes),
    ...units.filter(isOwn).map(({ bytes }) => bytes),
  ];
  const buffers = own.map((bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const isPresent = ({ block, text }: ShownMemory): boolean => {
    const needles = [memoryMark(block, nonce), JSON.stringify(text).slice(1, -1)];
    return buffers.some((bytes) => needles.some((needle) => bytes.includes(needle)));
  };
  return memories.filter((memory) => !isPresent(memory)).map((memory) => memoryLine(memory, nonce));
}
