import type { Mode } from "../engine/index.ts";

/** What is said of the program itself. Plain data, as all of the contract. */

/** What is being kept of what passes through. */
export type RecordingHealth = {
  readonly on: boolean;
  /** Requests that were relayed and not recorded, since the start. */
  readonly missed: number;
  /** Since when it is off, in milliseconds since 1970. */
  readonly since: number | null;
};
export type Health = {
  readonly storage: "ok" | "degraded";
  readonly message: string | null;
  readonly recording: RecordingHealth;
};
export type ReadyAnswer = { readonly ok: true } & Health;
export type HealthAnswer = Health & {
  readonly version: string;
  readonly time: number;
  /** As it is configured. In `observe` no session is managed, whatever is said for it. */
  readonly mode: Mode;
  /** Where requests go, by the name of the upstream: origin and path, never a credential. */
  readonly upstreams: Readonly<Record<string, string>>;
};

export type LoginLink = {
  /** Path and query; valid once. */
  readonly path: string;
  readonly expiresMs: number;
};
