import { safeText, shortened, withoutNonce } from "./safe-text.ts";

/** A reasoning block as it is stored. */
export type StoredReasoning = {
  readonly block: number;
  readonly message: number;
  readonly turn: number;
  /** Null if the provider kept the text back and sent only its signature. */
  readonly text: string | null;
  /** The texts and calls of the model that followed in that turn, in order. */
  readonly outcome: readonly string[];
};

const outcomesMax = 6;
const outcomeCharsMax = 200;

/**
 * Preserved reasoning as a labelled text: it is shown as a result, never as something the model says now. If
 * its text was never visible, the text names its outcome instead.
 */
export function reasoningText(nonce: string, stored: readonly StoredReasoning[]): string {
  if (stored.length === 0) return `[${nonce} no reasoning is preserved there]`;
  return stored.map((reasoning) => oneReasoning(nonce, reasoning)).join("\n");
}

function oneReasoning(nonce: string, { block, message, turn, text, outcome }: StoredReasoning): string {
  const label = `${nonce} preserved reasoning #${block}, message ${message}, turn ${turn}`;
  if (text !== null && text.trim() !== "") {
    return `[${label}]\n${withoutNonce(text, nonce)}\n[${nonce} end of #${block}]`;
  }
  const shown = outcome.slice(0, outcomesMax).map((one) => shortened(safeText(one, nonce), outcomeCharsMax));
  const more = outcome.length > outcomesMax ? [`+${outcome.length - outcomesMax} more`] : [];
  const came = [...shown.map((one) => `"${one}"`), ...more].join(", ");
  const outcomeText = came === "" ? "nothing followed in that turn" : `the turn went on with ${came}`;
  return `[${label}: signature only, its text was never visible; ${outcomeText}]`;
}
