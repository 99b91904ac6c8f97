/** Characters that terminals draw over the previous one, and characters that are two columns wide. */
const zeroWidth = /^(?:\p{Mn}|\p{Me}|\u200c|\u200d)$/u;
const doubleWidth =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation})$/u;

/** The number of terminal columns of a text. An estimate for rare scripts, exact for those in tables. */
export function textWidth(text: string): number {
  let columns = 0;
  for (const character of text) columns += characterWidth(character);
  return columns;
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (zeroWidth.test(character)) return 0;
  return doubleWidth.test(character) ? 2 : 1;
}
