import type { Json } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";

/** The input of a rendition: always the original of a block, never another rendition. */
export type Source = {
  readonly kind: BlockKind;
  /** The readable text of the block. */
  readonly text: string;
  /** The call that a result answers, if known: it helps to detect the type of the text. */
  readonly tool: string | null;
  readonly input: Json | null;
};
