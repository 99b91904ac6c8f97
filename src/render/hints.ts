import { markedSize } from "./numbers.ts";
import { listed, safeText, shortened } from "./safe-text.ts";

/** A cold block that may bear on what the user just said. */
export type Offer = {
  readonly block: number;
  readonly name: string;
  readonly tokens: number;
  readonly exact: boolean;
};

const offersMax = 3;
const nameCharsMax = 40;

/** `[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k, #27 db schema ~0.8k -> expand]` */
export function offerLine(nonce: string, offers: readonly Offer[]): string | null {
  if (offers.length === 0) return null;
  const texts = offers.slice(0, offersMax).map(({ block, name, tokens, exact }) => {
    const called = listed(shortened(safeText(name, nonce), nameCharsMax));
    return [`#${block}`, called, markedSize(tokens, exact)].filter((text) => text !== "").join(" ");
  });
  return `[${nonce} hint: archived and maybe relevant: ${texts.join(", ")} -> expand]`;
}
