import { cutText, fail, limits, ok, type Result } from "../../base/index.ts";
import {
  type AddedBlock,
  blocksOf,
  type Moment,
  type Stream,
  shownOf,
  type View,
} from "../../engine/index.ts";
import { reasoningText } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { findPlace } from "./block-detail.ts";
import { chosenStream, viewIn } from "./look.ts";
import { longMark, withoutShownMark, withShownMark } from "./mark.ts";
import { blocksUnknown } from "./nearest-ids.ts";
import type { ExpansionQuestion, MessageRange } from "./questions.ts";
import { isSigned, outcomeWords, storedWords } from "./stored-words.ts";
import type { ExpandedRow, ExpansionAnswer } from "./told-rows.ts";

type Wanted = { readonly stream: Stream; readonly view: View; readonly blocks: readonly AddedBlock[] };

/**
 * What is stored of blocks, as the text that a model would get. Contents are kept whatever the ledger shows,
 * so what was dropped or pruned is read like everything else.
 */
export async function expansionAnswer(
  store: Store,
  moment: Moment,
  question: ExpansionQuestion,
): Promise<Result<ExpansionAnswer>> {
  const wanted = wantedBlocks(moment, question);
  if (!wanted.ok) return wanted;
  const { stream, view, blocks } = wanted.value;
  const all = [...blocksOf(moment, view)];
  const rows: ExpandedRow[] = [];
  const texts: string[] = [];
  let room: number = limits.expandedCharsMax;
  for (const block of blocks) {
    if (room <= 0 && rows.length > 0) break;
    const row = expandedRow(await store.content(block.content), { block, moment, view });
    const text = await labelled(store, row, outcomeOf(all, block));
    rows.push(row);
    texts.push(text);
    room -= text.length;
  }
  return ok({
    session: moment.state.session,
    seq: moment.seq,
    stream: stream.id,
    rows,
    left: blocks.length - rows.length,
    next: blocks[rows.length]?.id ?? null,
    text: texts.join("\n"),
  });
}

function wantedBlocks(moment: Moment, { from, stream }: ExpansionQuestion): Result<Wanted> {
  if (!("block" in from)) return messagesIn(moment, from, stream);
  const asked = stream === undefined ? { block: from.block } : { block: from.block, stream };
  const found = findPlace(moment, asked);
  if (found.ok) {
    const { place } = found.value;
    return ok({ stream: found.value.stream, view: place.view, blocks: [place.block] });
  }
  if (found.error.code !== "AP_BLOCK_UNKNOWN") return found;
  const reached = reach(moment, stream);
  if (!reached.ok) return reached;
  return { ok: false, error: blocksUnknown(moment, reached.value?.view ?? null, [from.block]) };
}

function messagesIn(
  moment: Moment,
  { first, last }: MessageRange,
  wanted: number | undefined,
): Result<Wanted> {
  const reached = reach(moment, wanted);
  if (!reached.ok) return reached;
  const all = reached.value?.blocks ?? [];
  const blocks = all.filter(({ message }) => message >= first && message <= last);
  if (reached.value !== null && blocks.length > 0) return ok({ ...reached.value, blocks });
  const ids = all.map(({ message }) => message as number).sort((a, b) => a - b);
  const messages = first === last ? `message ${first}` : `message from ${first} to ${last}`;
  const [lowest, highest] = [ids[0], ids.at(-1)];
  const known = lowest === undefined ? "it has none yet" : `its messages are ${lowest} to ${highest}`;
  return fail("AP_MESSAGES_UNKNOWN", { messages, known });
}

/** All that the view of a stream reaches; null where there is no stream yet. */
function reach(moment: Moment, wanted: number | undefined): Result<Wanted | null> {
  const chosen = chosenStream(moment, wanted);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  if (stream === null || view === null) return ok(null);
  return ok({ stream, view, blocks: [...blocksOf(moment, view)] });
}

type Looked = { readonly block: AddedBlock; readonly moment: Moment; readonly view: View };

function expandedRow(content: Result<Uint8Array>, { block, moment, view }: Looked): ExpandedRow {
  const { id, message, turn, kind } = block;
  const words = content.ok ? storedWords(content.value, kind) : null;
  const text = words === null ? null : cutText(words, limits.expandedBlockCharsMax);
  return {
    block: id,
    message,
    turn,
    kind,
    shown: shownOf(moment, view, id),
    text,
    isCut: text !== null && words !== null && text.length < words.length,
    signed: content.ok && isSigned(content.value),
    problem: content.ok ? null : content.error.code,
  };
}

/** What the model said or called after it in the same message. */
export function outcomeOf(
  all: readonly AddedBlock[],
  { id, message, kind }: AddedBlock,
): readonly AddedBlock[] {
  if (kind !== "reasoning") return [];
  const own = all.filter((block) => block.message === message);
  const after = own.slice(own.findIndex((block) => block.id === id) + 1);
  return after.filter((block) => block.kind === "assistant" || block.kind === "tool-call");
}

/** More than these nobody is told word for word. */
const outcomesRead = 6;

async function labelled(store: Store, row: ExpandedRow, outcome: readonly AddedBlock[]): Promise<string> {
  const { block, message, turn, kind, text, problem } = row;
  const place = `#${block}, message ${message}, turn ${turn}`;
  if (problem !== null) return `[---- ${kind} ${place}: ${problemWords(problem)}]`;
  const said = text === null ? null : withoutShownMark(row.isCut ? `${text}\n${cutNote}` : text);
  if (kind !== "reasoning")
    return `[---- preserved ${kind} ${place}]\n${said ?? ""}\n[---- end of #${block}]`;
  const came: string[] = [];
  for (const [at, { content }] of (said === null ? outcome : []).entries()) {
    const read = at < outcomesRead ? await store.content(content) : null;
    came.push(read?.ok === true ? outcomeWords(read.value) : "something that cannot be read");
  }
  const reasoning = reasoningText(longMark, [{ block, message, turn, text: said, outcome: came }]);
  return withShownMark(reasoning, longMark);
}

const cutNote = "… (it goes on; what is stored is longer than fits here)";

function problemWords(code: string): string {
  return code === "AP_CONTENT_PURGED"
    ? "purged by the user, nothing of it is stored"
    : `what is stored cannot be read now (${code})`;
}
