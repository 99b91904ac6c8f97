/** What of ours stands in one request. */
export type Shown = {
  /** Lines that stay, written with this request. */
  readonly written: readonly string[];
  /** Every line that stands in this request, those written before included. */
  readonly standing: readonly string[];
  readonly manifest: string;
  /** What a carrier that keeps all it was given would carry instead of the manifest; empty for nothing. */
  readonly note: string;
};
