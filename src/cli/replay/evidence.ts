import type { Frame } from "../../engine/index.ts";

/** A stored body: its hash on record, and its bytes. */
export type BodyEvidence = {
  readonly request: number;
  readonly side: string;
  readonly hash: string;
  /**
   * Null if they cannot be read. Masked, unpacked and purged bodies are not the stored bytes and prove
   * nothing.
   */
  readonly bytes: Uint8Array | "masked" | "unpacked" | "purged" | null;
};

/** A request that was relayed unchanged has the same body on both sides. */
export type RawEvidence = { readonly request: number; readonly isSame: boolean };

/** The input of a replay, from a running Aperture or from a file. */
export type Evidence = {
  readonly session: string;
  readonly frames: readonly Frame[];
  readonly maskedFrames: ReadonlySet<number>;
  readonly bodies: readonly BodyEvidence[];
  readonly raw: readonly RawEvidence[];
  readonly requests: number;
};
