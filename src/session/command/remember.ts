import { blockId, hashContent, messageId, must } from "../../base/index.ts";
import type { Note } from "../../commands/index.ts";
import {
  type AddedBlock,
  addMemory,
  archive,
  blocksOf,
  type Change,
  type Delta,
  placeOf,
} from "../../engine/index.ts";
import { covers } from "../../levels/index.ts";
import { textBlock } from "../../protocols/index.ts";
import type { Content, Store } from "../../store/index.ts";
import { estimateText } from "../../tokens/index.ts";
import { storedWords } from "../read/stored-words.ts";
import type { IdPool } from "../record/id-pool.ts";
import { isKept, isOfModel } from "../record/kept-memory.ts";

/** What a note comes to. */
export type Remembered = {
  /** To be appended before them, without a step: an id that was given is never taken back. */
  readonly reserved: readonly Delta[];
  readonly deltas: readonly Delta[];
  /** To be appended behind them, without a step. */
  readonly counted: readonly Delta[];
  readonly contents: readonly Content[];
  /** What is told of it. */
  readonly told: readonly string[];
};

export type NotePlace = {
  readonly change: Change;
  readonly ids: IdPool;
  readonly isTainted: boolean;
  /** What the blocks say that the note may stand for. */
  readonly olderTexts: ReadonlyMap<number, string>;
};

/** A note becomes a memory. What it covers is archived; what it would lose keeps that from happening. */
export function rememberNote({ change, ids, isTainted, olderTexts }: NotePlace, note: Note): Remembered {
  const bytes = textBlock(note.text);
  const content = hashContent(bytes);
  const reserved = ids.reserve(change.moment.state, { block: 1, message: 1 });
  const [id, message] = [blockId(ids.take("block")), messageId(ids.take("message"))];
  const tokens = { count: Math.ceil(estimateText(note.text, null)), exact: false };
  const { topic, supersedes } = note;
  const added = addMemory(change, { id, message, content, tokens, topic, supersedes, isTainted });
  if (!added.ok) return { ...nothing, reserved, told: [added.error.message] };
  const { covered: said, told } = overlap(note, olderTexts);
  const covered = said.filter((block) => block === supersedes || isFree(change, block));
  const gone = archive(change, covered.map(blockId), `superseded by #${id}`);
  return {
    reserved,
    deltas: [...standing(added.value.deltas, covered), ...(gone.ok ? gone.value.deltas : [])],
    counted: [added.value.counted],
    contents: [{ hash: content, bytes }],
    told: [
      `Noted as #${id}${covered.length === 0 ? "" : `; ${covered.map((one) => `#${one}`).join(", ")} archived`}.`,
      ...told,
    ],
  };
}

/** What a note says as well goes without a word only where it is of the same hand; the rest is the user's. */
function isFree({ moment, view, actor }: Change, block: number): boolean {
  const place = placeOf(moment, view, blockId(block));
  return place !== null && (actor === "user" || isOfModel(place));
}

const nothing: Omit<Remembered, "reserved" | "told"> = { deltas: [], counted: [], contents: [] };

/** What stays beside a note that does not say all of it is not outdated by it. */
function standing(deltas: readonly Delta[], covered: readonly number[]): readonly Delta[] {
  return deltas.filter((delta) => delta.type !== "supersession-set" || covered.includes(delta.block));
}

function overlap({ text, supersedes }: Note, olderTexts: ReadonlyMap<number, string>) {
  const covered: number[] = [];
  const told: string[] = [];
  for (const [block, older] of olderTexts) {
    const { covers: isCovered, reasons } = covers(text, older);
    if (isCovered) covered.push(block);
    else if (block === supersedes) {
      const [reason] = reasons;
      told.push(
        `#${block} stays as well: the note does not say all of it (${reason?.text.replace(/\.$/, "") ?? "something is missing"}).`,
      );
    }
  }
  return { covered, told };
}

/** The texts of memories that are not archived, and of what a note is said to replace. */
export async function olderTexts(
  { moment, view }: Change,
  notes: readonly Note[],
  store: Pick<Store, "content">,
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  if (notes.length === 0) return texts;
  const replaced = new Set(notes.map(({ supersedes }) => supersedes));
  const isOlder = ({ id, kind }: AddedBlock): boolean =>
    replaced.has(id) || (kind === "memory" && isKept(must(placeOf(moment, view, id), "it is in the view")));
  for (const { id, kind, content } of [...blocksOf(moment, view)].filter(isOlder)) {
    const stored = await store.content(content);
    const text = stored.ok ? storedWords(stored.value, kind) : null;
    if (text !== null) texts.set(id, text);
  }
  return texts;
}
