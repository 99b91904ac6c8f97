import { fail, ok, type Result } from "../base/index.ts";
import type { ProtocolName } from "../exchange/index.ts";
import { type Head, headerOf } from "./headers.ts";
import type { UpstreamLabel } from "./metrics.ts";

export type Route = {
  /** One of the four built-in names, or a name of the user's. */
  readonly upstream: string;
  readonly label: UpstreamLabel;
  /** Path and query for the upstream, without the path of the upstream's own address. */
  readonly rest: string;
  /** Null if the request is relayed but not recorded. */
  readonly protocol: ProtocolName | null;
};

type RouteInput = { readonly method: string; readonly target: string; readonly head: Head };

/** The target without its query. */
export function requestPath(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

export type Router = (input: RouteInput) => Result<Route>;

const knownPathsMax = 500;

/**
 * Clients use the same few paths, so routes are cached by path. A route that headers decided is not cached,
 * and the query is checked every time.
 */
export function createRouter(named: ReadonlySet<string>): Router {
  const known = new Map<string, Route>();
  return (input) => {
    const path = requestPath(input.target);
    const query = input.target.slice(path.length);
    const key = `${input.method} ${path}`;
    const route = known.get(key);
    if (route !== undefined && isPlain(query)) return ok({ ...route, rest: route.rest + query });
    const found = routeOf(input, named);
    if (found.ok && known.size < knownPathsMax && !isByHeader(input.target, named)) {
      const { rest } = found.value;
      known.set(key, { ...found.value, rest: rest.slice(0, rest.length - query.length) });
    }
    return found;
  };
}

function isByHeader(target: string, named: ReadonlySet<string>): boolean {
  return byPrefix(target, named) === null && byPath(target) === null;
}

/** Finds the upstream of a request by path and header names alone, and only among the configured ones. */
export function routeOf(input: RouteInput, named: ReadonlySet<string>): Result<Route> {
  const problem = targetProblem(input.target);
  if (problem !== null) return fail("AP_TARGET_INVALID", { problem });
  const target = byPrefix(input.target, named) ?? byPath(input.target) ?? byHeader(input);
  if (target === "unknown name") {
    return fail("AP_UPSTREAM_UNKNOWN", { choices: [...named].join(", ") || "none" });
  }
  if (target === null) return fail("AP_UPSTREAM_UNCLEAR", { choices: prefixChoices(named) });
  return ok({ ...target, protocol: protocolOf(input.method, target.rest) });
}

function prefixChoices(named: ReadonlySet<string>): string {
  return [...builtIn.map((name) => `/${name}`), ...[...named].map((name) => `/u/${name}`)].join(", ");
}

const builtIn = ["anthropic", "openai", "gemini", "bedrock"] as const;
type BuiltIn = (typeof builtIn)[number];
type UpstreamTarget = Omit<Route, "protocol">;

/** Null if the target is safe to pass on unchanged. Node's parser has already refused spaces. */
export function targetProblem(target: string): string | null {
  if (!target.startsWith("/")) return "it must begin with a slash";
  if (!isPlain(target)) return "it holds a character that must be percent-encoded";
  const path = requestPath(target);
  if (!/[.%]/.test(path)) return null;
  if (/%(?:[01][0-9a-f]|7f)/i.test(path)) return "its path holds an encoded control character";
  // A parameter after a dot segment is still a dot segment to some servers.
  const climbs = decodedDots(path)
    .split(/[/\\]/)
    .some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment));
  return climbs ? "its path holds a dot segment" : null;
}

/** Visible ASCII without `\` and `#`, which some servers read as a slash or as the end. */
function isPlain(text: string): boolean {
  return /^[!-"$-[\]-~]*$/.test(text);
}

/** Undoes repeated percent-encoding, as a server behind the upstream might. */
function decodedDots(path: string): string {
  let decoded = path;
  for (let round = 0; round < 8 && decoded.includes("%"); round += 1) {
    const next = decoded.replace(/%(25|2e|2f|5c)/gi, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

function byPrefix(target: string, named: ReadonlySet<string>): UpstreamTarget | "unknown name" | null {
  const first = /^\/([a-z]+)(?=[/?]|$)/.exec(target)?.[1];
  const name = builtIn.find((known) => known === first);
  if (name !== undefined) return builtInTarget(name, withoutPrefix(target, `/${name}`));
  const own = /^\/u\/([^/?]*)/.exec(target)?.[1];
  if (own === undefined) return null;
  if (!named.has(own)) return "unknown name";
  return { upstream: own, label: "named", rest: withoutPrefix(target, `/u/${own}`) };
}

function withoutPrefix(target: string, prefix: string): string {
  const rest = target.slice(prefix.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function builtInTarget(name: BuiltIn, rest: string): UpstreamTarget {
  return { upstream: name, label: name, rest };
}

/** Paths that only one of the four has. Paths like `/v1/models` exist in several: see `byHeader`. */
const uniquePaths: readonly { readonly pattern: RegExp; readonly name: BuiltIn }[] = [
  { pattern: /^\/v1\/messages(?:\/|$)/, name: "anthropic" },
  { pattern: /^\/api\//, name: "anthropic" },
  { pattern: /^\/v1\/(?:chat\/completions|responses)(?:\/|$)/, name: "openai" },
  { pattern: /^\/(?:upload\/)?v1(?:alpha|beta)\//, name: "gemini" },
  { pattern: /^\/(?:model\/|inference-profiles(?:\/|$))/, name: "bedrock" },
];

function byPath(target: string): UpstreamTarget | null {
  const path = plainPath(target);
  const found = uniquePaths.find(({ pattern }) => pattern.test(path));
  return found === undefined ? null : builtInTarget(found.name, target);
}

/** For matching only: a base URL that ends in a slash gives a double slash, which is passed on unchanged. */
function plainPath(target: string): string {
  const path = requestPath(target);
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}

function byHeader({ target, head }: RouteInput): UpstreamTarget | null {
  const has = (name: string): boolean => headerOf(head, name) !== undefined;
  if (has("anthropic-version") || has("x-api-key")) return builtInTarget("anthropic", target);
  if (has("x-goog-api-key")) return builtInTarget("gemini", target);
  return plainPath(target).startsWith("/v1/") ? builtInTarget("openai", target) : null;
}

/**
 * The protocol follows from the end of the path, not from the upstream: several upstreams speak another's
 * protocol, and a user's own upstream may have any prefix.
 */
const recordedPaths: readonly { readonly pattern: RegExp; readonly protocol: ProtocolName }[] = [
  { pattern: /\/v1\/messages(?:\/count_tokens)?$/, protocol: "anthropic" },
  { pattern: /\/chat\/completions$/, protocol: "openai-chat" },
  { pattern: /\/responses$/, protocol: "openai-responses" },
  {
    pattern:
      /\/(?:tunedModels|models)\/[^/]+(?::|%3a)(?:streamGenerateContent|generateContent|countTokens)$/i,
    protocol: "gemini",
  },
  { pattern: /\/model\/[^/]+\/(?:invoke|converse)[a-z-]*$/, protocol: "bedrock" },
];

function protocolOf(method: string, rest: string): ProtocolName | null {
  if (method !== "POST") return null;
  const path = plainPath(rest);
  return recordedPaths.find(({ pattern }) => pattern.test(path))?.protocol ?? null;
}
