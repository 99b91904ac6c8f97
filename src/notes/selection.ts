import type { SelectedBlock } from "../awareness/index.ts";
import { safeText, shortened } from "./safe-text.ts";

const nameCharsMax = 40;

/** The sentence for the turn in which the user points at something. */
export type SelectionNote = { readonly nonce: string; readonly selected: readonly SelectedBlock[] };

export function selectionLine(nonce: string, selected: readonly SelectedBlock[]): string | null {
  const shown = selected.map((one) => shownSelected(nonce, one));
  return selected.length === 0 ? null : writeSelection({ nonce, selected: shown });
}

/** `[k7f3 The user has highlighted these blocks as relevant to this task: #12 (auth flow), #27]` */
export function writeSelection({ nonce, selected }: SelectionNote): string {
  return `[${nonce} ${sentence}${selected.map(writeSelected).join(", ")}]`;
}

export function readSelection(text: string): SelectionNote | null {
  const [, nonce = "", list = ""] = selectionForm.exec(text) ?? [];
  const selected = readSelectedList(list, ", ");
  return nonce === "" || selected === null ? null : { nonce, selected };
}

const sentence = "The user has highlighted these blocks as relevant to this task: ";
const selectionForm = new RegExp(`^\\[(\\w+) ${sentence}(.*)\\]$`);

/** Replaces brackets inside a name, because brackets enclose the name. */
export function shownSelected(
  nonce: string,
  { block, name }: SelectedBlock,
  charsMax = nameCharsMax,
): SelectedBlock {
  const called = shortened(safeText(name ?? "", nonce), charsMax).replace(/[()]/g, "'");
  return { block, name: called === "" ? null : called };
}

/** `#12 (auth flow)` */
export function writeSelected({ block, name }: SelectedBlock): string {
  return name === null ? `#${block}` : `#${block} (${name})`;
}

export function readSelectedList(text: string, separator: string): readonly SelectedBlock[] | null {
  if (text === "") return [];
  const form = /#(\d+)(?: \(([^()]*)\))?/y;
  const selected: SelectedBlock[] = [];
  for (let at = 0; at < text.length; at = form.lastIndex + separator.length) {
    form.lastIndex = at;
    const found = form.exec(text);
    if (found === null) return null;
    selected.push({ block: Number(found[1]), name: found[2] ?? null });
    if (form.lastIndex < text.length && !text.startsWith(separator, form.lastIndex)) return null;
  }
  return selected;
}
