import { safeText, shortened } from "./safe-text.ts";

/** A block the user has highlighted. */
export type Selected = { readonly block: number; readonly name: string | null };

const nameCharsMax = 40;

/** `[user-selected] #12 (auth flow) #27 (db schema)`: to stand inside a manifest. */
export function selectionText(nonce: string, selected: readonly Selected[]): string | null {
  return selected.length === 0 ? null : `[user-selected] ${selectedNames(nonce, selected).join(" ")}`;
}

/** The same as a sentence, for the turn in which the user points at something. */
export function selectionLine(nonce: string, selected: readonly Selected[]): string | null {
  if (selected.length === 0) return null;
  const names = selectedNames(nonce, selected).join(", ");
  return `[${nonce} The user has highlighted these blocks as relevant to this task: ${names}]`;
}

function selectedNames(nonce: string, selected: readonly Selected[]): readonly string[] {
  return selected.map(({ block, name }) => selectedName(nonce, { block, name }));
}

/** A name that holds brackets of its own must not seem to end early. */
export function selectedName(nonce: string, { block, name }: Selected, charsMax = nameCharsMax): string {
  const called = shortened(safeText(name ?? "", nonce), charsMax).replace(/[()]/g, "'");
  return called === "" ? `#${block}` : `#${block} (${called})`;
}
