/** Digits that stand for themselves, as in `a.go:40:26`, `size=12`, `[88]`; not inside a hash or a date. */
const digits = /(?<![\p{L}\p{N}_.-])\d[\d_]*(?:,\d{3})*(?:\.\d+)?(?=\p{L}{0,5}(?![\p{L}\p{N}]))/gu;

/** Every number that is written in digits, also inside of what is read as a name. */
export function valuesIn(text: string): ReadonlySet<string> {
  const values = new Set<string>();
  for (const [written] of text.matchAll(digits)) values.add(String(Number(written.replace(/[,_]/g, ""))));
  return values;
}
