import { cutText, type Fail, fail, secretPatterns } from "../../base/index.ts";

/** An error of an official client, sorted by its cause. */
export type ClientFailure = { readonly problem: string } & (
  | {
      /** The provider refused the request. */
      readonly type: "refused";
      readonly status: number;
      /** The header `retry-after`: seconds, or a date. */
      readonly retryAfter: string | null;
      /** The provider says that a retry is of no use. */
      readonly isFinal: boolean;
    }
  /** No answer has begun. */
  | { readonly type: "unreachable" }
  /** The answer had begun and broke off, or cannot be read. */
  | { readonly type: "broken" }
  /** The request was never sent: a key is missing, or a field of the request. */
  | { readonly type: "setup" }
  /** The request was never sent: the API cannot express it. The problem says which part. */
  | { readonly type: "unsupported" }
);

export type FailureContext = {
  readonly provider: string;
  /** Texts that must not appear in the message. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
};

const mayRetry = { retryable: true, retryAfterMs: null } as const;
const noRetry = { retryable: false, retryAfterMs: null } as const;

export function providerFailure(failure: ClientFailure, { provider, secrets, nowMs }: FailureContext): Fail {
  const problem = cutText(maskCredentials(failure.problem, secrets), problemCharsMax).replace(/[.\s]+$/, "");
  switch (failure.type) {
    case "refused": {
      const { status } = failure;
      const retryable = !failure.isFinal && isRetryableStatus(status);
      const retryAfterMs = retryAfterMsOf(failure.retryAfter, nowMs);
      return fail("AP_PROVIDER_REFUSED", { provider, status, problem, retryable, retryAfterMs });
    }
    case "unreachable":
      return fail("AP_PROVIDER_UNREACHABLE", { provider, problem, ...mayRetry });
    case "broken":
      return fail("AP_PROVIDER_BROKEN", { provider, problem, ...mayRetry });
    case "setup":
      return fail("AP_PROVIDER_SETUP", { provider, problem, ...noRetry });
    case "unsupported":
      return fail("AP_PROVIDER_UNSUPPORTED", { provider, what: problem, ...noRetry });
  }
}

export function cancelled(provider: string): Fail {
  return fail("AP_PROVIDER_CANCELLED", { provider, ...noRetry });
}

/** The error for a package that is not installed; `packages` names what to install. */
export function packageMissing(provider: string, packages: string): Fail {
  return fail("AP_PROVIDER_MISSING", { provider, packages, ...noRetry });
}

/** True if the package was not found, as opposed to one that is installed and fails. */
export function isNotInstalled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}

const problemCharsMax = 500;
const secretCharsMin = 8;

/** Masks secrets, because providers repeat what they were sent: a wrong key, or the signed headers. */
export function maskCredentials(text: string, secrets: readonly string[]): string {
  const long = secrets.filter(({ length }) => length >= secretCharsMin);
  const known = long.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
  return secretPatterns.reduce((rest, shape) => rest.replace(shape, "***"), known);
}

/** A later attempt may succeed after a timeout, a rate limit or a failure of the provider. */
function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 424 || status === 429 || status >= 500;
}

export function retryAfterMsOf(header: string | null, nowMs: number): number | null {
  if (header === null || header.trim() === "") return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : null;
}

/** The message of the innermost cause: an HTTP client itself seldom says more than `fetch failed`. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return problemOf(error.cause);
  return error.message || codeOf(error) || error.name;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
