import type { Mode } from "../engine/frames/index.ts";

/** Whether exchanges are being recorded. */
export type RecordingHealth = {
  readonly on: boolean;
  /** Requests that were relayed but not recorded since the start. */
  readonly missed: number;
  /** The time since which it is off, in milliseconds since 1970. */
  readonly since: number | null;
};
export type ControlHealth = {
  readonly storage: "ok" | "degraded";
  readonly message: string | null;
  readonly recording: RecordingHealth;
};
export type ReadyAnswer = { readonly ok: true } & ControlHealth;
export type HealthAnswer = ControlHealth & {
  readonly version: string;
  readonly time: number;
  /** The configured mode. With `observe` no session is managed, even if its own mode says so. */
  readonly mode: Mode;
  /** Sessions of subscription logins are managed too, with their owner's consent. */
  readonly managesLogins: boolean;
  /** The addresses of the upstreams, by name: origin and path, never a credential. */
  readonly upstreams: Readonly<Record<string, string>>;
};

/** Whether sessions of subscription logins are managed. A change holds until Aperture ends. */
export type LoginConsent = {
  readonly isGiven: () => boolean;
  readonly set: (isGiven: boolean) => void;
};
export type ManageLoginsAnswer = Pick<HealthAnswer, "managesLogins">;

export type LoginLink = {
  /** Path and query; valid once. */
  readonly path: string;
  readonly expiresMs: number;
};
