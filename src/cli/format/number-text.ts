/** One decimal above a thousand: 900, 3.2k, 142.3k, 1.2M. */
export function tokensText(tokens: number): string {
  if (tokens < 1_000) return `${tokens}`;
  return tokens < 999_950 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** The same for round numbers, such as the size of a window: 200k, 1M. */
export function sizeText(tokens: number): string {
  return tokensText(tokens).replace(/\.0(?=[kM]$)/, "");
}

/** `~` marks an estimate; a provider's count has no mark. */
export function countedText(tokens: number, isExact: boolean): string {
  return `${isExact ? "" : "~"}${tokensText(tokens)}`;
}

export function percentText({ part, whole }: { readonly part: number; readonly whole: number }): string {
  if (whole <= 0) return "?";
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 1) return "<1 %";
  // A window that is not full never shows 100 %.
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent)} %`;
}

const byteUnits = ["B", "kB", "MB", "GB"] as const;

export function bytesText(bytes: number): string {
  let [value, at] = [bytes, 0];
  while (value >= 999.95 && at < byteUnits.length - 1) [value, at] = [value / 1_000, at + 1];
  return `${at === 0 ? value : value.toFixed(1)} ${byteUnits[at]}`;
}

/** `1 block`, `2 blocks`. */
export function pluralText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
