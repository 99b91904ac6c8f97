import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { type ApertureError, apertureError, assert, type Clock, limits } from "../base/index.ts";
import type { LoginLink } from "./health.ts";

export type AuthOptions = { readonly token: string; readonly clock: Clock };

/** The credential a caller has proved; null if none. */
export type Proof = "token" | "cookie" | null;

const linkMs = 60_000;
const loginMs = 7 * 24 * 60 * 60 * 1_000;
const failuresMax = 10;
const failuresMs = 60_000;

/**
 * Decides who may use the API. The token is for programs. A browser exchanges a one-time code for a cookie,
 * so that the token is in no address bar, history or page. Codes and cookies are hashes, kept in memory only.
 */
export class Auth {
  readonly #token: Buffer;
  readonly #clock: Clock;
  readonly #codes = new ExpiringHashes(limits.loginCodesMax);
  readonly #logins = new ExpiringHashes(limits.loginsMax);
  /** Random, because browsers keep cookies per host, not per port: two Apertures must not share a name. */
  readonly #cookieName = `aperture-${randomBytes(4).toString("hex")}`;
  #failures: readonly number[] = [];

  constructor({ token, clock }: AuthOptions) {
    assert(token !== "", "an empty token would let everybody in");
    this.#token = digest(token);
    this.#clock = clock;
  }

  proofOf(request: IncomingMessage): Proof {
    const { authorization } = request.headers;
    // A caller that sends a token is judged by it: a cookie does not make up for a wrong token.
    if (authorization !== undefined) return this.#isToken(authorization) ? "token" : null;
    const cookie = this.#cookieIn(request);
    return cookie !== null && this.#logins.has(hashOf(cookie), this.#clock.now()) ? "cookie" : null;
  }

  #isToken(authorization: string): boolean {
    const [, given] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(given ?? ""), this.#token);
  }

  newLink(): LoginLink {
    const code = secret();
    const expiresMs = this.#clock.now() + linkMs;
    this.#codes.set(hashOf(code), expiresMs);
    return { path: `/login?code=${code}`, expiresMs };
  }

  /** Returns the cookie to set, or the error. Every attempt uses up its code. */
  login(code: string): { readonly cookie: string } | ApertureError {
    const nowMs = this.#clock.now();
    this.#failures = this.#failures.filter((at) => at > nowMs - failuresMs);
    if (this.#failures.length >= failuresMax) return apertureError("AP_LOGIN_BUSY");
    const hash = hashOf(code);
    const isValid = this.#codes.has(hash, nowMs);
    this.#codes.delete(hash);
    if (!isValid) {
      this.#failures = [...this.#failures, nowMs];
      return apertureError("AP_LOGIN_INVALID");
    }
    const value = secret();
    this.#logins.set(hashOf(value), nowMs + loginMs);
    return { cookie: this.#cookie(value, loginMs / 1_000) };
  }

  /** Ends the login of the request's cookie and returns the cookie that replaces it. */
  logout(request: IncomingMessage): string {
    const cookie = this.#cookieIn(request);
    if (cookie !== null) this.#logins.delete(hashOf(cookie));
    return this.#cookie("", 0);
  }

  /** Not marked Secure: on loopback there is no TLS, and some browsers would then not send it at all. */
  #cookie(value: string, ageSeconds: number): string {
    return `${this.#cookieName}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${ageSeconds}`;
  }

  #cookieIn({ headers }: IncomingMessage): string | null {
    const pairs = (headers.cookie ?? "").split(";").map((pair) => pair.trim().split("="));
    return pairs.find(([name]) => name === this.#cookieName)?.[1] ?? null;
  }
}

/** Hashes of secrets with an expiry time. The oldest is dropped when the set is full. */
class ExpiringHashes {
  readonly #sizeMax: number;
  readonly #ends = new Map<string, number>();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  has(hash: string, nowMs: number): boolean {
    return (this.#ends.get(hash) ?? 0) > nowMs;
  }

  set(hash: string, endMs: number): void {
    this.#ends.set(hash, endMs);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > this.#sizeMax && oldest !== undefined) this.#ends.delete(oldest);
  }

  delete(hash: string): void {
    this.#ends.delete(hash);
  }
}

/**
 * Guards writes by cookie against other pages. Such a page can make a browser send a request, even with the
 * cookie, from another port of this machine. It cannot set this header or content type without a CORS
 * preflight, which the server never answers.
 */
export function writeProblem({ headers }: IncomingMessage): ApertureError | null {
  const refused = (problem: string) => apertureError("AP_WRITE_REFUSED", { problem });
  if (headers["x-aperture-csrf"] !== "1") return refused("the header x-aperture-csrf is missing");
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase();
  return type === "application/json" ? null : refused("its content type is not application/json");
}

/** Refuses pages of other origins, by the headers browsers add. Programs send none and need their token. */
export function pageProblem({ headers }: IncomingMessage): ApertureError | null {
  const refused = (header: string) => apertureError("AP_PAGE_REFUSED", { header });
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin" && site !== "none") return refused("sec-fetch-site");
  const { origin, host } = headers;
  const isOwn = origin === undefined || origin === `http://${host}` || origin === `https://${host}`;
  return isOwn ? null : refused("origin");
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function hashOf(text: string): string {
  return digest(text).toString("hex");
}
