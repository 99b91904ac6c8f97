export type ReasonKind =
  | "invented-number"
  | "invented-name"
  | "invented-quote"
  | "fact-elsewhere"
  | "quote-changed"
  | "unit-changed"
  | "negation-lost"
  | "negation-added"
  | "constraint-lost"
  | "outcome-turned"
  | "fact-lost"
  | "constraint-missing"
  | "names-missing";

/** Why a summary is refused: a sentence for its reader, and the piece it is about. */
export type Reason = { readonly kind: ReasonKind; readonly piece: string; readonly text: string };

const shownMax = 160;

export function shorten(text: string): string {
  return text.length <= shownMax ? text : `${text.slice(0, shownMax - 1)}…`;
}
