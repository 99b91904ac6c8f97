import { cutText, fail, limits, ok, type Result } from "../base/index.ts";
import { outcomeLabel, partText } from "../content/index.ts";
import type { AddedBlock } from "../engine/frames/index.ts";
import type { Stream, View } from "../engine/index.ts";
import { type Moment, shownOf, viewBlocks } from "../engine/moment/index.ts";
import { viewIn } from "../log/index.ts";
import { reasoningText } from "../notes/index.ts";
import { readPart } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import type { ExpandedRow, ExpansionAnswer } from "./answers/context-answers.ts";
import { chooseStream } from "./choose-stream.ts";
import { locateBlock, unknownBlocksError } from "./find-block.ts";
import { escapeMask, longNonce, maskNonce } from "./masked-nonce.ts";
import type { ExpansionQuery, MessageRange } from "./queries.ts";

type ExpansionScope = {
  readonly stream: Stream;
  readonly view: View;
  readonly blocks: readonly AddedBlock[];
};

/**
 * Returns stored blocks as the text that a model would get. Contents are kept independent of what the ledger
 * shows, so dropped and pruned blocks can be read too.
 */
export async function expansionAnswer(
  store: Store,
  moment: Moment,
  query: ExpansionQuery,
): Promise<Result<ExpansionAnswer>> {
  const scope = expansionScope(moment, query);
  if (!scope.ok) return scope;
  const { stream, view, blocks } = scope.value;
  const all = [...viewBlocks(moment, view)];
  const rows: ExpandedRow[] = [];
  const texts: string[] = [];
  let room: number = limits.expandedCharsMax;
  for (const block of blocks) {
    if (room <= 0 && rows.length > 0) break;
    const row = expandedRow(await store.content(block.content), { block, moment, view });
    const text = await labelBlock(store, row, blocksAfterReasoning(all, block));
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

function expansionScope(moment: Moment, { from, stream }: ExpansionQuery): Result<ExpansionScope> {
  if (!("block" in from)) return messageScope(moment, from, stream);
  const blockQuery = stream === undefined ? { block: from.block } : { block: from.block, stream };
  const located = locateBlock(moment, blockQuery);
  if (located.ok) {
    const { blockView } = located.value;
    return ok({ stream: located.value.stream, view: blockView.view, blocks: [blockView.block] });
  }
  if (located.error.code !== "AP_BLOCK_UNKNOWN") return located;
  const scope = viewScope(moment, stream);
  if (!scope.ok) return scope;
  return { ok: false, error: unknownBlocksError(moment, scope.value?.view ?? null, [from.block]) };
}

function messageScope(
  moment: Moment,
  { first, last }: MessageRange,
  stream: number | undefined,
): Result<ExpansionScope> {
  const scope = viewScope(moment, stream);
  if (!scope.ok) return scope;
  const all = scope.value?.blocks ?? [];
  const blocks = all.filter(({ message }) => message >= first && message <= last);
  if (scope.value !== null && blocks.length > 0) return ok({ ...scope.value, blocks });
  const ids = all.map(({ message }) => message as number).sort((a, b) => a - b);
  const messages = first === last ? `message ${first}` : `message from ${first} to ${last}`;
  const [lowest, highest] = [ids[0], ids.at(-1)];
  const known = lowest === undefined ? "it has none yet" : `its messages are ${lowest} to ${highest}`;
  return fail("AP_MESSAGES_UNKNOWN", { messages, known });
}

/** All blocks in the view of a stream; null if there is no stream yet. */
function viewScope(moment: Moment, requested: number | undefined): Result<ExpansionScope | null> {
  const chosen = chooseStream(moment, requested);
  if (!chosen.ok) return chosen;
  const stream = chosen.value;
  const view = stream === null ? null : viewIn(moment, stream);
  if (stream === null || view === null) return ok(null);
  return ok({ stream, view, blocks: [...viewBlocks(moment, view)] });
}

function expandedRow(
  content: Result<Uint8Array>,
  { block, moment, view }: { readonly block: AddedBlock; readonly moment: Moment; readonly view: View },
): ExpandedRow {
  const { id, message, turn, kind } = block;
  const part = content.ok ? readPart(content.value, block) : null;
  const fullText = part === null ? null : partText(part);
  const text = fullText === null ? null : cutText(fullText, limits.expandedBlockCharsMax);
  return {
    block: id,
    message,
    turn,
    kind,
    shown: shownOf(moment, view, id),
    text,
    isCut: text !== null && fullText !== null && text.length < fullText.length,
    signed: part?.type === "reasoning" && part.isSigned,
    problem: content.ok ? null : content.error.code,
  };
}

/** The texts and calls of the model that follow a reasoning block in the same message. */
export function blocksAfterReasoning(
  all: readonly AddedBlock[],
  { id, message, kind }: AddedBlock,
): readonly AddedBlock[] {
  if (kind !== "reasoning") return [];
  const own = all.filter((block) => block.message === message);
  const after = own.slice(own.findIndex((block) => block.id === id) + 1);
  return after.filter((block) => block.kind === "assistant" || block.kind === "tool-call");
}

/** Outcomes beyond these are not quoted. */
const outcomesQuotedMax = 6;

async function labelBlock(store: Store, row: ExpandedRow, outcome: readonly AddedBlock[]): Promise<string> {
  const { block, message, turn, kind, text, problem } = row;
  const location = `#${block}, message ${message}, turn ${turn}`;
  if (problem !== null) return `[---- ${kind} ${location}: ${problemText(problem)}]`;
  const shownText = text === null ? null : escapeMask(row.isCut ? `${text}\n${cutNote}` : text);
  if (kind !== "reasoning")
    return `[---- preserved ${kind} ${location}]\n${shownText ?? ""}\n[---- end of #${block}]`;
  const outcomes: string[] = [];
  for (const [at, later] of (shownText === null ? outcome : []).entries()) {
    const read = at < outcomesQuotedMax ? await store.content(later.content) : null;
    const part = read?.ok === true ? readPart(read.value, later) : null;
    outcomes.push(part === null ? "something that cannot be read" : outcomeLabel(part));
  }
  const reasoning = reasoningText(longNonce, [{ block, message, turn, text: shownText, outcome: outcomes }]);
  return maskNonce(reasoning, longNonce);
}

const cutNote = "… (it goes on; what is stored is longer than fits here)";

function problemText(code: string): string {
  return code === "AP_CONTENT_PURGED"
    ? "purged by the user, nothing of it is stored"
    : `what is stored cannot be read now (${code})`;
}
