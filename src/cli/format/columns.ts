/** Characters that terminals draw over the one before, and those they draw twice as wide. */
const none = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d)$/u;
const two =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

/** How many columns of a terminal a text takes. An estimate for rare scripts; exact where tables need it. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (none.test(character)) return 0;
  return two.test(character) ? 2 : 1;
}
