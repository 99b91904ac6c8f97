import { type AddedBlock, levels } from "../../engine/frames/index.ts";
import { type LevelWish, placeholderTokens } from "../../exchange/index.ts";
import { hintOf } from "../../notes/index.ts";
import { readEditable } from "../../protocols/index.ts";
import { levelTexts } from "../../recorder/index.ts";
import { unitTokens } from "../../tokens/index.ts";
import type { ClientInput, ClientPrompt } from "./client-prompt.ts";
import { withSpeaker } from "./prompt-unit.ts";
import { isOwnBlock } from "./visible-frames.ts";

const lowerForms = ["trimmed", "minimal", "placeholder"] as const;

/** Shortening a smaller block would save too little. */
const shortenedTokensMin = 100;

/**
 * Wishes that show the blocks of a prompt ever shorter: first all of them trimmed, the largest first, then
 * minimal, then as placeholders.
 */
export function* shorterWishes(
  input: ClientInput,
  client: ClientPrompt,
): Generator<ReadonlyMap<number, LevelWish>> {
  const sized = client.units.flatMap((unit) => {
    const { block, frame, role, bytes } = unit;
    if (block === null || frame === null || role !== "user") return [];
    const tokens = unitTokens({ bytes, kind: block.kind }, input.model);
    return tokens < shortenedTokensMin ? [] : [{ unit: { block, bytes }, tokens }];
  });
  const largestFirst = sized.sort((a, b) => b.tokens - a.tokens);
  const wishes = new Map<number, LevelWish>();
  for (const form of lowerForms) {
    for (const { unit, tokens } of largestFirst) {
      const bytes = input.contents.cached(unit.block.content) ?? unit.bytes;
      const wish = shorterWish({ ...unit, bytes }, { form, tokens, model: input.model });
      if (wish === null) continue;
      const isOwn = isOwnBlock(unit.block, input.view);
      wishes.set(wish.block, isOwn ? wish : withSpeaker(wish, unit.block, input.nonce));
      yield wishes;
    }
  }
}

type ShorterForm = {
  readonly form: (typeof lowerForms)[number];
  readonly tokens: number;
  readonly model: string;
};

type BlockContent = { readonly block: AddedBlock; readonly bytes: Uint8Array };

/** Null if the block has no such form. */
function shorterWish({ block, bytes }: BlockContent, { form, tokens, model }: ShorterForm): LevelWish | null {
  const unit = readEditable(bytes, block);
  if (unit === null) return null;
  const common = { block: block.id, reason: "there is no room for it" };
  if (form === "placeholder") {
    const text = unit.type === "call" ? null : hintOf(unit.text);
    const input = unit.type === "call" ? {} : null;
    return { ...common, as: form, text, input, tokens: placeholderTokens };
  }
  const { texts } = levelTexts({ kind: block.kind, unit, call: null, tokens, model });
  // A block without a text at this level is shown at the next one above that has one.
  const reached = levels.slice(1, levels.indexOf(form) + 1);
  const [as, text] = texts.findLast(([level]) => reached.includes(level)) ?? [null, null];
  return as === null || text === null ? null : { ...common, as, ...text };
}
