import { isUtf8 } from "node:buffer";
import { assert, type ContentHash, fail, limits, must, ok, type Result } from "../base/index.ts";
import type { BlockAttributes, Level } from "../engine/frames/index.ts";
import {
  attributesOf,
  type BlockView,
  factValue,
  isWithheld,
  type Moment,
  shownOf,
  wantedOf,
} from "../engine/moment/index.ts";
import { levelLine, placeholder } from "../notes/index.ts";
import { wireTypeOf } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";
import type { BlockDetail, BlockRow, ContentPiece, LevelRow, PendingRow } from "./answers/block-answers.ts";
import { blockHistory } from "./block-history.ts";
import { levelRows, pendingRow } from "./block-levels.ts";
import { blockRowMaker } from "./block-row.ts";
import { streamModeOf } from "./choose-stream.ts";
import { locateBlock } from "./find-block.ts";
import { escapeMask, longNonce, maskNonce } from "./masked-nonce.ts";
import type { BlockQuery } from "./queries.ts";
import { fitRow, fitShare } from "./state-row.ts";

export async function blockDetail(
  store: Store,
  moment: Moment,
  query: BlockQuery,
): Promise<Result<BlockDetail>> {
  const located = locateBlock(moment, query);
  if (!located.ok) return located;
  const { blockView, stream } = located.value;
  const attributes = must(attributesOf(moment, blockView.block.id), "a block that is there has notes");
  const hash = contentHashAt(blockView, attributes, query.level ?? "original");
  if (hash === null) return fail("AP_BLOCK_UNKNOWN", { block: query.block });
  const content = await store.content(hash);
  const history = await blockHistory(store, blockView);
  if (!history.ok) return history;
  const range = { from: query.from ?? 0, length: query.length ?? pieceBytesDefault };
  const share = fitShare(moment, stream, blockView.view);
  const block = fitRow(blockRowMaker(moment, stream, blockView.view)(blockView), share);
  return ok({
    session: moment.state.session,
    seq: moment.seq,
    block,
    wireType: content.ok ? wireTypeOf(content.value, blockView.block) : null,
    content: content.ok ? contentPiece(content.value, range) : null,
    // The content may be purged, or not on disk yet; everything else about the block still holds.
    problem: content.ok ? null : content.error.code,
    placeholder: await placeholderText(store, blockView),
    levels: levelRows(attributes).map((row) => fitLevel(row, block)),
    pending: fitPending(pendingRow(blockView, attributes, streamModeOf(moment, stream)), block, share),
    history: history.value,
  });
}

/** Null if the block has no rendition at this level. */
function contentHashAt(
  { block }: BlockView,
  { renditions }: BlockAttributes,
  level: Level,
): ContentHash | null {
  return level === "original" ? block.content : (renditions[level]?.content ?? null);
}

/** Takes the sizes of the row, so that the detail of a block never contradicts its row. */
function fitLevel(row: LevelRow, { sizes, exact }: BlockRow): LevelRow {
  const tokens = sizes[row.level] ?? row.tokens;
  return { ...row, tokens, exact: row.exact && (exact || tokens === row.tokens) };
}

function fitPending(pending: PendingRow | null, { counted }: BlockRow, share: number): PendingRow | null {
  if (pending === null || pending.frees === null || !counted) return pending;
  return { ...pending, frees: Math.round(pending.frees * share) };
}

/** The line that stands for a block, now or after a rewrite; null if it is shown or withheld. */
async function placeholderText(store: Store, blockView: BlockView): Promise<string | null> {
  const { moment, view, block } = blockView;
  // The model's own words are never replaced: it would learn to write lines like ours.
  const isSpoken = block.kind === "reasoning" || block.kind === "assistant";
  const willBePruned = wantedOf(blockView) === "placeholder" && !isSpoken;
  const isPruned = willBePruned || shownOf(moment, view, block.id) === "placeholder";
  if (!isPruned || isWithheld(blockView)) return null;
  const { tokens, renditions } = must(attributesOf(moment, block.id), "a block that is there has notes");
  const size = tokens?.count ?? 0;
  // A call's input cannot hold a line: it is shown shortened, with the line beside it.
  if (block.kind === "tool-call") {
    const lowered = { block: block.id, as: "placeholder", tokens: size } as const;
    return maskNonce(levelLine(longNonce, lowered), longNonce);
  }
  const stored = renditions.minimal === undefined ? null : await store.content(renditions.minimal.content);
  const hint = stored?.ok ? Buffer.from(stored.value).toString("utf8") : "";
  const header = { block: block.id, kind: block.kind, tokens: size, exact: false, ttl: null, state: null };
  const reason = factValue(blockView, "archive")?.reason ?? "";
  const line = placeholder(
    { nonce: longNonce, mode: "compact", turn: block.turn },
    { block: header, reason, hint: escapeMask(hint) },
  );
  return maskNonce(line, longNonce);
}

/** The default size of a piece: enough for a page, small enough for any screen. */
const pieceBytesDefault = 64 * 1024;

type PieceRange = { readonly from: number; readonly length: number };

/** Reading on at `from + length` misses nothing, even though cuts are moved to character boundaries. */
export function contentPiece(bytes: Uint8Array, range: PieceRange): ContentPiece {
  const isText = isUtf8(bytes);
  const wantedFrom = Math.min(range.from, bytes.length);
  const from = isText ? characterStart(bytes, wantedFrom) : wantedFrom;
  const wantedTo = Math.min(from + Math.min(range.length, limits.pieceBytesMax), bytes.length);
  const to = isText ? textEnd(bytes, from, wantedTo) : wantedTo;
  assert(from <= to && to <= bytes.length, "a piece lies inside its content");
  const encoding = isText ? "utf-8" : "base64";
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString(encoding);
  return { text, encoding, from, length: to - from, total: bytes.length };
}

function characterStart(bytes: Uint8Array, at: number): number {
  let start = at;
  while (start > 0 && isContinuation(bytes[start])) start -= 1;
  return start;
}

/** Returns at least one whole character, or reading on would never end. */
function textEnd(bytes: Uint8Array, from: number, wantedEnd: number): number {
  const end = characterStart(bytes, wantedEnd);
  if (end > from || wantedEnd <= from) return Math.max(end, from);
  let next = from + 1;
  while (next < bytes.length && isContinuation(bytes[next])) next += 1;
  return next;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
}
