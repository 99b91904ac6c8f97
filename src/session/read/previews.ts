import { cutText, must, ok, type Result } from "../../base/index.ts";
import { type Moment, notesOf, type Place } from "../../engine/index.ts";
import { spokenIn } from "../../protocols/index.ts";
import type { Store } from "../../store/index.ts";
import {
  type Call,
  levelWords,
  minimalTokensMin,
  wordedKinds,
  wordsIn,
  wordsText,
} from "../record/level-words.ts";
import { type Found, findPlace } from "./block-detail.ts";
import { rowMaker } from "./block-row.ts";
import { callContent } from "./call-content.ts";
import { modelIn } from "./look.ts";
import type { PreviewRow, PreviewsAnswer } from "./rows.ts";
import { fitOf } from "./state-row.ts";

const textCharsMax = 64 * 1024;

/**
 * What a block would come to at each level, made by the code that makes what is sent: nothing is stored, and
 * nobody has to want it first.
 */
export async function previewsAnswer(
  store: Store,
  moment: Moment,
  block: number,
): Promise<Result<PreviewsAnswer>> {
  const found = findPlace(moment, { block });
  if (!found.ok) return found;
  const { place, stream } = found.value;
  const content = await store.content(place.block.content);
  if (!content.ok) return content;
  const of = await wordsOf(store, place, content.value);
  const tokens = must(notesOf(moment, place.block.id), "a block that is there has notes").tokens?.count ?? 0;
  const answer = { session: moment.state.session, seq: moment.seq, block };
  if (of === null || tokens < minimalTokensMin)
    return ok({ ...answer, rows: [], reasons: [whyNone(of !== null)] });
  const { words, reasons } = levelWords({ ...of, tokens, model: modelIn(moment, stream) });
  const share = isCounted(moment, found.value) ? fitOf(moment, stream, place.view) : 1;
  const rows = words.map(([level, made]): PreviewRow => {
    const text = wordsText(made);
    return {
      level,
      tokens: Math.floor(made.tokens * share),
      text: cutText(text, textCharsMax),
      isCut: text.length > textCharsMax,
    };
  });
  return ok({ ...answer, rows, reasons });
}

function isCounted(moment: Moment, { place, stream }: Found): boolean {
  return rowMaker(moment, stream, place.view)(place).counted;
}

function whyNone(hasWords: boolean): string {
  return hasWords
    ? "it is so small that nothing shorter is worth it"
    : "what the model said itself, and what is no text, is shown whole or not at all";
}

async function wordsOf(store: Store, place: Place, bytes: Uint8Array) {
  const { kind } = place.block;
  const spoken = wordedKinds.includes(kind) ? wordsIn(bytes) : null;
  if (spoken === null) return null;
  const asked = spoken.type === "result" ? await callContent(store, place, bytes) : null;
  return { kind, spoken, call: asked === null ? null : callIn(asked) };
}

function callIn(bytes: Uint8Array): Call | null {
  const spoken = spokenIn(bytes);
  return spoken?.type === "call" ? spoken : null;
}
