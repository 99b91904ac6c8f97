/**
 * Readers never see the nonce of a session: a reader who knows it could write lines that pass for ours. Texts
 * are rendered with a stand-in nonce, which this mask replaces before they are returned.
 */
const nonceMask = "----";

/** As long as a real nonce, for texts whose token count matters. */
export const shortNonce = "q7x0";
/** Too long to occur in content by chance, for texts that quote content. */
export const longNonce = "q7x0q7x0q7x0q7x0";

export function maskNonce(text: string, nonce: string): string {
  return text.replaceAll(nonce, nonceMask);
}

/** Changes lines of content that look like masked lines of ours, so that content cannot imitate them. */
export function escapeMask(text: string): string {
  return text.replace(/^([ \t]*\[)----/gm, "$1…");
}
