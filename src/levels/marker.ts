// What stands where something was left out. One form, three tokens long: a text from which every second line
// was taken has hundreds of them. The first one in a text says in words what they mean.

const lines = /^\[…\d+(?: lines left out)?\]$/;
const characters = /\[…\d+ch\]/;

/** Tokens of a marker with its line break. */
export const markerCost = 3;

export function linesMarker(count: number, isFirst: boolean): string {
  return isFirst ? `[…${count} lines left out]` : `[…${count}]`;
}

/** Inside a line that was too long to be kept or left out as a whole. */
export function charactersMarker(count: number): string {
  return `[…${count}ch]`;
}

/** Whether a line stands for others, or has a piece left out. */
export function hasMarker(line: string): boolean {
  return lines.test(line) || characters.test(line);
}
