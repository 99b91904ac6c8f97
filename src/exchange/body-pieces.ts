/** Bytes in the pieces in which they arrived. */
export type Pieces = readonly Uint8Array[];
