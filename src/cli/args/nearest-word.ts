/** The known word that the user probably meant, or null if none is close. */
export function nearestWord(word: string, known: readonly string[]): string | null {
  const completed = word.length >= 2 ? known.find((each) => each.startsWith(word)) : undefined;
  if (completed !== undefined) return completed;
  // Two edits turn a word of four letters into another word. Leading dashes do not count as letters.
  const editsMax = word.replace(/^-+/, "").length < 5 ? 1 : 2;
  const ranked = known
    .map((each) => ({ each, edits: editDistance(word, each) }))
    .filter(({ edits }) => edits <= editsMax)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.each ?? null;
}

/** Damerau-Levenshtein: inserted, deleted, replaced letters and swapped neighbours count one each. */
function editDistance(word: string, other: string): number {
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= word.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = word[i - 1] === other[j - 1] ? 0 : 1;
      const [up, left, corner] = [rows[i - 1]?.[j] ?? 0, row[j - 1] ?? 0, rows[i - 1]?.[j - 1] ?? 0];
      const isSwapped = i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      const swapped = isSwapped ? (rows[i - 2]?.[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      row.push(Math.min(up + 1, left + 1, corner + cost, swapped));
    }
    rows.push(row);
  }
  return rows[word.length]?.[other.length] ?? 0;
}
