const columns = 24;

/** How far long work is: `analysing 12 of 50 [######------------------]`. */
export function progressText(verb: string, done: number, count: number): string {
  const filled = count === 0 ? columns : Math.floor((columns * done) / count);
  return `${verb} ${done} of ${count} [${"#".repeat(filled)}${"-".repeat(columns - filled)}]`;
}
