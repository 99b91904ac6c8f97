import type { TextPrint } from "./text-print.ts";

/** A unit that must not be sent: what recognises it, and a text of it where it may come joined to others. */
export type WithheldUnit = { readonly key: string; readonly print: TextPrint | null };

/** What is withheld in a session, for somebody who cannot ask the log. */
export type WithheldSession = {
  readonly session: string;
  readonly owner: string;
  readonly upstream: string;
  readonly client: string;
  /** What its client calls it; null where it does not. */
  readonly name: string | null;
  readonly units: readonly WithheldUnit[];
};
