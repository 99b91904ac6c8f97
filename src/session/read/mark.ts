/**
 * Readers are not shown the mark of a session: whoever knows it could write lines that pass for ours. These
 * stand for it while a text is made; `----` takes their place before anybody sees it.
 */
const shownMark = "----";

/** As long as a real one, where a text has to keep to its tokens. */
export const shortMark = "q7x0";
/** Too long to stand in any content by chance: what does is left out of it. */
export const longMark = "q7x0q7x0q7x0q7x0";

export function withShownMark(text: string, mark: string): string {
  return text.replaceAll(mark, shownMark);
}

/** Content keeps its lines, and none of them can be taken for one that carries the mark. */
export function withoutShownMark(text: string): string {
  return text.replace(/^([ \t]*\[)----/gm, "$1…");
}
