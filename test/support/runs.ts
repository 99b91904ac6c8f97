/** How often a property is tried: little by default, a lot with `npm test -- --long`. */
export const isLong = process.env["APERTURE_TEST_LONG"] === "1";

export function numRuns(usual: number): { readonly numRuns: number } {
  return { numRuns: isLong ? usual * 20 : usual };
}
