import type { Json } from "../base/index.ts";
import type { BlockKind } from "../engine/frames/index.ts";

/** What a rendition is made of: always the original, never another rendition. */
export type Source = {
  readonly kind: BlockKind;
  /** What a reader sees of it. */
  readonly text: string;
  /** The call it answers, as far as it is known: it tells what sort of text this is. */
  readonly tool: string | null;
  readonly input: Json | null;
};
