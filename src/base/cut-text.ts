/** Cuts by code point: half a character would make a request that every provider refuses. */
export function cutText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const last = text.charCodeAt(charsMax - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? charsMax - 1 : charsMax);
}
