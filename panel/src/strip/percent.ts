/** A share as a percentage for SVG and CSS. Negative shares become 0. */
export function percent(share: number): string {
  return `${(Math.max(0, share) * 100).toFixed(3)}%`;
}
