import type { Frame } from "../../engine/index.ts";

/** One stored body: what its hash should be, and the bytes there are. */
export type BodyEvidence = {
  readonly request: number;
  readonly side: string;
  readonly hash: string;
  /** Null: they cannot be had. Masked, unpacked: they are not the stored bytes, so nothing can be said. */
  readonly bytes: Uint8Array | "masked" | "unpacked" | "purged" | null;
};

/** A request that went up as it came has one body for both sides. */
export type RawEvidence = { readonly request: number; readonly isSame: boolean };

/** What a replay looks at, from a running Aperture or from a file. */
export type Evidence = {
  readonly session: string;
  readonly frames: readonly Frame[];
  readonly maskedFrames: ReadonlySet<number>;
  readonly bodies: readonly BodyEvidence[];
  readonly raw: readonly RawEvidence[];
  readonly requests: number;
};
