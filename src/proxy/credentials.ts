import { createHmac } from "node:crypto";
import type { Caller } from "../exchange/index.ts";
import { type Head, headerOf, headersOf } from "./headers.ts";

/** A header or parameter whose name contains one of these is a credential. */
const secretName = /token|secret|key|auth|cookie|credential|password|signature/i;

/** Shorter values occur everywhere by chance, and are no secrets. */
const secretLengthMin = 8;

const mask = "***";

/** A keyed hash: neither a stolen database nor a list of known keys leads back to the credential. */
export type CredentialHasher = (credential: string) => string;

/** Remembers the last hash, because most requests come from the same client. */
export function credentialHasher(key: Uint8Array): CredentialHasher {
  let last = { credential: "", hash: "" };
  return (credential) => {
    if (credential !== last.credential || last.hash === "") {
      const hash = createHmac("sha256", key).update(credential).digest("hex").slice(0, 32);
      last = { credential, hash };
    }
    return last.hash;
  };
}

export function callerOf(head: Head, target: string, hasher: CredentialHasher): Caller {
  const credential = credentialIn(head, target);
  return {
    owner: "local",
    credential: credential === null ? "none" : hasher(credential),
    secrets: secretsIn(head, target),
  };
}

const credentialHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;

function credentialIn(head: Head, target: string): string | null {
  for (const name of credentialHeaders) {
    const value = headerOf(head, name);
    if (value !== undefined && value !== "") return stableCredential(bareCredential(value));
  }
  const parameter = secretParameters(target)[0];
  return parameter === undefined ? null : parameter;
}

/** A signed AWS request has a new signature each time; only the id of the key stays the same. */
function stableCredential(value: string): string {
  return /\bCredential=([^/,\s]+)/.exec(value)?.[1] ?? value;
}

/** Removes the scheme, such as `Bearer`. */
function bareCredential(value: string): string {
  return value.replace(/^(?:bearer|basic|token)\s+/i, "").trim();
}

/** Every value that must not be recorded, in all forms in which it may turn up. */
export function secretsIn(head: Head, target: string): readonly string[] {
  const secrets = new Set<string>();
  const add = (value: string): void => {
    if (value.length >= secretLengthMin) secrets.add(value);
  };
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    if (classOf(name) === "secret")
      for (const form of secretForms(name, head.raw[at * 2 + 1] ?? "")) add(form);
  }
  for (const value of secretParameters(target)) add(value);
  return [...secrets];
}

function secretForms(name: string, value: string): readonly string[] {
  if (name === "cookie") return value.split(/; */).map((pair) => pair.slice(pair.indexOf("=") + 1));
  const plain = bareCredential(value);
  const signature = /\bSignature=([0-9a-f]+)/i.exec(plain)?.[1];
  return signature === undefined ? [plain] : [plain, signature];
}

/** Values both as sent and decoded: an error message of an upstream may quote either. */
function secretParameters(target: string): readonly string[] {
  const query = queryOf(target);
  if (query === "") return [];
  return query.split(/[&;]/).flatMap((pair) => {
    const { name, value } = splitPair(pair);
    if (!isSecretParameter(name) || value === "") return [];
    const decoded = decodedOrNull(value);
    return decoded === null || decoded === value ? [value] : [value, decoded];
  });
}

/** The target as it may be recorded: secret parameters are masked, and known secrets everywhere. */
export function maskTarget(target: string, secrets: readonly string[]): string {
  const query = queryOf(target);
  const path = query === "" ? target : target.slice(0, target.length - query.length);
  return maskSecrets(path + maskQuery(query), secrets);
}

/** Servers differ in the separator of parameters, so both count. */
function maskQuery(query: string): string {
  return query.replace(/[^&;]+/g, (pair) => {
    const { name, value } = splitPair(pair);
    return value !== "" && isSecretParameter(name) ? `${name}=${mask}` : pair;
  });
}

function queryOf(target: string): string {
  const at = target.indexOf("?");
  return at === -1 ? "" : target.slice(at + 1);
}

function splitPair(pair: string): { readonly name: string; readonly value: string } {
  const at = pair.indexOf("=");
  return at === -1 ? { name: pair, value: "" } : { name: pair.slice(0, at), value: pair.slice(at + 1) };
}

/** A name that cannot be decoded may be anything, so it counts as secret. */
function isSecretParameter(name: string): boolean {
  const decoded = decodedOrNull(name);
  return decoded === null || secretName.test(decoded);
}

function decodedOrNull(text: string): string | null {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return null;
  }
}

function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (rest, secret) => (rest.length < secret.length ? rest : rest.replaceAll(secret, mask)),
    text,
  );
}

/** The request headers that may be recorded: known names only, because a new client may invent any other. */
const harmlessHeaders: ReadonlySet<string> = new Set([
  "user-agent",
  "content-type",
  "content-encoding",
  "accept",
  "anthropic-version",
  "anthropic-beta",
  "x-app",
  "x-claude-code-session-id",
  "x-claude-code-agent-id",
  "session-id",
  "session_id",
  "thread-id",
  "x-openai-subagent",
  "x-session-id",
  "x-session-affinity",
  "x-parent-session-id",
  "x-client-request-id",
  "x-aperture-session",
  "x-aperture-project",
  "x-aperture-mode",
  "x-aperture-bypass",
]);

export function requestHeaders(head: Head, secrets: readonly string[]): Readonly<Record<string, string>> {
  return filterHeaders(head, { isChosen: isHarmlessHeader, secrets });
}

function isHarmlessHeader(name: string): boolean {
  return classOf(name) === "harmless";
}

type HeaderClass = "harmless" | "secret" | "other";

/** A client sends the same header names every time, so their classes are cached. */
const knownClasses = new Map<string, HeaderClass>();
const knownClassesMax = 1_000;

function classOf(name: string): HeaderClass {
  const known = knownClasses.get(name);
  if (known !== undefined) return known;
  const headerClass = classifyHeader(name);
  if (knownClasses.size < knownClassesMax) knownClasses.set(name, headerClass);
  return headerClass;
}

function classifyHeader(name: string): HeaderClass {
  if (harmlessHeaders.has(name)) return "harmless";
  if (secretName.test(name)) return "secret";
  return name.startsWith("x-stainless-") || name.startsWith("x-codex-") ? "harmless" : "other";
}

export function responseHeaders(head: Head, secrets: readonly string[]): Readonly<Record<string, string>> {
  return filterHeaders(head, { isChosen: isHarmlessResponseHeader, secrets });
}

function isHarmlessResponseHeader(name: string): boolean {
  switch (name) {
    case "content-type":
    case "content-encoding":
    case "request-id":
    case "x-request-id":
    case "retry-after":
      return true;
    default:
      return name.startsWith("anthropic-ratelimit-") || name.startsWith("x-ratelimit-");
  }
}

type HeaderFilter = { readonly isChosen: (name: string) => boolean; readonly secrets: readonly string[] };

function filterHeaders(head: Head, { isChosen, secrets }: HeaderFilter): Readonly<Record<string, string>> {
  const chosen: Record<string, string> = {};
  for (let at = 0; at < head.names.length; at += 1) {
    const name = head.names[at] ?? "";
    if (!isChosen(name)) continue;
    const value = maskSecrets(head.raw[at * 2 + 1] ?? "", secrets);
    const before = chosen[name];
    chosen[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return chosen;
}

/** Tokens of a login, by their prefix; keys for programs have others. */
const loginToken = /^(?:sk-ant-(?:oat|ort|sid)|ya29\.|eyJ[\w-]*\.[\w-]+\.)/;

/**
 * The request uses a person's login and not an API key. Clients with a login also say so in other headers,
 * which counts even if the form of the token is unknown.
 */
export function isLogin(head: Head): boolean {
  if (head.names.includes("chatgpt-account-id")) return true;
  if (headersOf(head, "anthropic-beta").some((value) => /(?:^|[\s,])oauth-/.test(value))) return true;
  return credentialHeaders.some((name) =>
    headersOf(head, name).some((value) => loginToken.test(bareCredential(value))),
  );
}
