/** A share as SVG and CSS write it. What would reach to the left of its beginning is not drawn at all. */
export function percent(share: number): string {
  return `${(Math.max(0, share) * 100).toFixed(3)}%`;
}
