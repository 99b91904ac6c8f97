import { cutText, type Fail, fail, secretShapes } from "../../base/index.ts";

/** What an official client threw, in our terms. */
export type Failure = { readonly problem: string } & (
  | {
      /** The provider has said no. */
      readonly type: "refused";
      readonly status: number;
      /** The header of that name: seconds, or a date. */
      readonly retryAfter: string | null;
      /** It says itself that asking again is of no use. */
      readonly isFinal: boolean;
    }
  /** No answer has begun. */
  | { readonly type: "unreachable" }
  /** It had begun and was not sent to its end, or cannot be read. */
  | { readonly type: "broken" }
  /** It was never asked: a key is missing, or a field of the question. */
  | { readonly type: "setup" }
  /** Nor here: there is no way to put it. The problem says what cannot be sent. */
  | { readonly type: "unsupported" }
);

export type FailureQuestion = {
  readonly provider: string;
  /** What must not be repeated, whoever says it. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
};

const worthwhile = { retryable: true, retryAfterMs: null } as const;
const useless = { retryable: false, retryAfterMs: null } as const;

export function failed(failure: Failure, { provider, secrets, nowMs }: FailureQuestion): Fail {
  const problem = cutText(masked(failure.problem, secrets), problemCharsMax).replace(/[.\s]+$/, "");
  switch (failure.type) {
    case "refused": {
      const { status } = failure;
      const retryable = !failure.isFinal && isRetryableStatus(status);
      const retryAfterMs = retryAfterMsOf(failure.retryAfter, nowMs);
      return fail("AP_PROVIDER_REFUSED", { provider, status, problem, retryable, retryAfterMs });
    }
    case "unreachable":
      return fail("AP_PROVIDER_UNREACHABLE", { provider, problem, ...worthwhile });
    case "broken":
      return fail("AP_PROVIDER_BROKEN", { provider, problem, ...worthwhile });
    case "setup":
      return fail("AP_PROVIDER_SETUP", { provider, problem, ...useless });
    case "unsupported":
      return fail("AP_PROVIDER_UNSUPPORTED", { provider, what: problem, ...useless });
  }
}

export function cancelled(provider: string): Fail {
  return fail("AP_PROVIDER_CANCELLED", { provider, ...useless });
}

/** What stands in for a package that is not there: `packages` is what to install. */
export function missing(provider: string, packages: string): Fail {
  return fail("AP_PROVIDER_MISSING", { provider, packages, ...useless });
}

/** A package that cannot be found, told from one that is there and fails. */
export function isNotInstalled(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
}

const problemCharsMax = 500;
const secretCharsMin = 8;

/** Providers repeat what they were sent: a wrong key, the headers of a signature that does not match. */
export function masked(text: string, secrets: readonly string[]): string {
  const long = secrets.filter(({ length }) => length >= secretCharsMin);
  const known = long.reduce((rest, secret) => rest.replaceAll(secret, "***"), text);
  return secretShapes.reduce((rest, shape) => rest.replace(shape, "***"), known);
}

/** Waiting helps where it took too long, too much was asked, or something broke on the other side. */
function isRetryableStatus(status: number): boolean {
  return status === 408 || status === 424 || status === 429 || status >= 500;
}

export function retryAfterMsOf(header: string | null, nowMs: number): number | null {
  if (header === null || header.trim() === "") return null;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - nowMs;
  return Number.isFinite(ms) ? Math.max(0, Math.ceil(ms)) : null;
}

/** The first cause: what an HTTP client says of itself is seldom more than `fetch failed`. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.cause !== undefined) return problemOf(error.cause);
  return error.message || codeOf(error) || error.name;
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
