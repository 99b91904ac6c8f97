import { cutText, must, ok, type Result } from "../base/index.ts";
import { attributesOf, type BlockView, type Moment } from "../engine/moment/index.ts";
import { modelIn } from "../log/index.ts";
import type { ToolInvocation } from "../policy/index.ts";
import { readEditable } from "../protocols/index.ts";
import {
  kindsWithLevels,
  levelTextString,
  levelTexts,
  minimalTokensMin,
  readUnmasked,
} from "../recorder/index.ts";
import type { Store } from "../store/index.ts";
import type { PreviewRow, PreviewsAnswer } from "./answers/block-answers.ts";
import { blockRowMaker } from "./block-row.ts";
import { callContent, type LocatedBlock, locateBlock } from "./find-block.ts";
import { fitShare } from "./state-row.ts";

const textCharsMax = 64 * 1024;

/**
 * Renders a block at each level with the code that renders what is sent. Nothing is stored, and the levels
 * need not be wanted first.
 */
export async function previewsAnswer(
  store: Store,
  moment: Moment,
  block: number,
): Promise<Result<PreviewsAnswer>> {
  const located = locateBlock(moment, { block });
  if (!located.ok) return located;
  const { blockView, stream } = located.value;
  const content = await store.content(blockView.block.content);
  if (!content.ok) return content;
  const source = await textSource(store, blockView, content.value);
  const tokens =
    must(attributesOf(moment, blockView.block.id), "a block that is there has notes").tokens?.count ?? 0;
  const answer = { session: moment.state.session, seq: moment.seq, block };
  if (source === null || tokens < minimalTokensMin)
    return ok({ ...answer, rows: [], reasons: [whyNone(source !== null)] });
  const { texts: renditions, reasons } = levelTexts({ ...source, tokens, model: modelIn(moment, stream) });
  const share = isCounted(moment, located.value) ? fitShare(moment, stream, blockView.view) : 1;
  const rows = renditions.map(([level, rendition]): PreviewRow => {
    const text = levelTextString(rendition);
    return {
      level,
      tokens: Math.floor(rendition.tokens * share),
      text: cutText(text, textCharsMax),
      isCut: text.length > textCharsMax,
    };
  });
  return ok({ ...answer, rows, reasons });
}

function isCounted(moment: Moment, { blockView, stream }: LocatedBlock): boolean {
  return blockRowMaker(moment, stream, blockView.view)(blockView).counted;
}

function whyNone(hasText: boolean): string {
  return hasText
    ? "it is so small that nothing shorter is worth it"
    : "what the model said itself, and what is no text, is shown whole or not at all";
}

async function textSource(store: Store, blockView: BlockView, bytes: Uint8Array) {
  const { kind } = blockView.block;
  const unit = kindsWithLevels.includes(kind) ? readUnmasked(bytes, blockView.block) : null;
  if (unit === null) return null;
  const callBytes = unit.type === "result" ? await callContent(store, blockView, bytes) : null;
  return { kind, unit, call: callBytes === null ? null : callIn(callBytes, blockView) };
}

function callIn(bytes: Uint8Array, { block }: BlockView): ToolInvocation | null {
  const unit = readEditable(bytes, block);
  return unit?.type === "call" ? unit : null;
}
