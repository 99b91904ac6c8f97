import { listed, safeText, shortened, splitUnquoted } from "./safe-text.ts";
import { readSize, roundSize, type Size, sizePattern, writeSize } from "./sizes-and-ids.ts";

/** A cold block that may be relevant to the last message of the user. */
export type Offer = {
  readonly block: number;
  readonly name: string;
  readonly tokens: number;
  readonly exact: boolean;
};

/** Cold blocks that match the last message, as the model reads it. */
export type OfferNote = { readonly nonce: string; readonly offers: readonly ShownOffer[] };
/** The label is quoted if its end would be unclear. */
export type ShownOffer = { readonly block: number; readonly label: string; readonly size: Size };

const offersMax = 3;
const nameCharsMax = 40;

export function offerLine(nonce: string, offers: readonly Offer[]): string | null {
  if (offers.length === 0) return null;
  const shown = offers.slice(0, offersMax).map((offer) => ({
    block: offer.block,
    label: listed(shortened(safeText(offer.name, nonce), nameCharsMax)),
    size: roundSize(offer),
  }));
  return writeOffers({ nonce, offers: shown });
}

/** `[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k, #27 db schema ~0.8k -> expand]` */
export function writeOffers({ nonce, offers }: OfferNote): string {
  const texts = offers.map(({ block, label, size }) =>
    [`#${block}`, label, writeSize(size)].filter((text) => text !== "").join(" "),
  );
  return `[${nonce} hint: archived and maybe relevant: ${texts.join(", ")} -> expand]`;
}

export function readOffers(text: string): OfferNote | null {
  const [, nonce = "", list = ""] = offersForm.exec(text) ?? [];
  if (nonce === "") return null;
  const offers = splitUnquoted(list, ", ").map(readOffer);
  return offers.some((offer) => offer === null)
    ? null
    : { nonce, offers: offers.flatMap((one) => one ?? []) };
}

function readOffer(text: string): ShownOffer | null {
  const [, block, label = "", size = ""] = offerForm.exec(text) ?? [];
  const read = readSize(size);
  return read === null ? null : { block: Number(block), label, size: read };
}

const offersForm = /^\[(\w+) hint: archived and maybe relevant: (.*) -> expand\]$/;
const offerForm = new RegExp(`^#(\\d+)(?: (.+))? (${sizePattern})$`);
