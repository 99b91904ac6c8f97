/** The notes of ours in one request. */
export type ShownTexts = {
  /** Permanent lines that are new in this request. */
  readonly written: readonly string[];
  /** All permanent lines of this request. */
  readonly standing: readonly string[];
  readonly manifest: string;
  /** The note that a permanent carrier has instead of the manifest; may be empty. */
  readonly note: string;
};
