import type { TextFingerprint } from "./text-fingerprint.ts";

/** A unit that must not be sent, with a fingerprint that finds its text where it is joined to other texts. */
export type WithheldUnit = { readonly key: string; readonly print: TextFingerprint | null };

/** The withheld units of a session, for readers that cannot ask the log. */
export type WithheldSession = {
  readonly session: string;
  readonly owner: string;
  readonly upstream: string;
  readonly client: string;
  /** The client's name for the session. Null if it gives none. */
  readonly name: string | null;
  readonly units: readonly WithheldUnit[];
};
