/** What became of the copies it was given. */
export type RecorderCounts = {
  readonly requests: number;
  readonly answers: number;
  /** Exchanges that could not be written down, for whatever reason. */
  readonly gaps: number;
  readonly unread: number;
};
