import { fail, ok, type Result } from "../base/index.ts";
import type { Protocol } from "../session/index.ts";
import { type Head, headerOf } from "./headers.ts";
import type { UpstreamLabel } from "./metrics.ts";

export type Route = {
  /** One of the four, or the name a user gave. */
  readonly upstream: string;
  readonly label: UpstreamLabel;
  /** Path and query for the upstream, before the path of its own address is put in front. */
  readonly rest: string;
  /** Null: relayed, but not worth recording. */
  readonly protocol: Protocol | null;
};

type Asked = { readonly method: string; readonly target: string; readonly head: Head };

/** A target up to its query. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}

export type Router = (asked: Asked) => Result<Route>;

const knownPathsMax = 500;

/**
 * Clients ask for the same few paths again and again, so what was decided for a path is looked up. What a
 * header decided is not kept, and a query is looked at every time.
 */
export function createRouter(named: ReadonlySet<string>): Router {
  const known = new Map<string, Route>();
  return (asked) => {
    const path = pathOf(asked.target);
    const query = asked.target.slice(path.length);
    const key = `${asked.method} ${path}`;
    const route = known.get(key);
    if (route !== undefined && isPlain(query)) return ok({ ...route, rest: route.rest + query });
    const found = routeOf(asked, named);
    if (found.ok && known.size < knownPathsMax && !isByHeader(asked.target, named)) {
      const { rest } = found.value;
      known.set(key, { ...found.value, rest: rest.slice(0, rest.length - query.length) });
    }
    return found;
  };
}

function isByHeader(target: string, named: ReadonlySet<string>): boolean {
  return byPrefix(target, named) === null && byPath(target) === null;
}

/** Which upstream a request is for. Decided by path and header names alone, and only among known ones. */
export function routeOf(asked: Asked, named: ReadonlySet<string>): Result<Route> {
  const problem = targetProblem(asked.target);
  if (problem !== null) return fail("AP_TARGET_INVALID", { problem });
  const chosen = byPrefix(asked.target, named) ?? byPath(asked.target) ?? byHeader(asked);
  if (chosen === "unknown name") {
    return fail("AP_UPSTREAM_UNKNOWN", { choices: [...named].join(", ") || "none" });
  }
  if (chosen === null) return fail("AP_UPSTREAM_UNCLEAR", { choices: prefixChoices(named) });
  return ok({ ...chosen, protocol: protocolOf(asked.method, chosen.rest) });
}

function prefixChoices(named: ReadonlySet<string>): string {
  return [...builtIn.map((name) => `/${name}`), ...[...named].map((name) => `/u/${name}`)].join(", ");
}

const builtIn = ["anthropic", "openai", "gemini", "bedrock"] as const;
type BuiltIn = (typeof builtIn)[number];
type Chosen = Omit<Route, "protocol">;

/** Null where the target is safe to pass on as it is. Node's parser has refused spaces before. */
export function targetProblem(target: string): string | null {
  if (!target.startsWith("/")) return "it must begin with a slash";
  if (!isPlain(target)) return "it holds a character that must be percent-encoded";
  const path = pathOf(target);
  if (!/[.%]/.test(path)) return null;
  if (/%(?:[01][0-9a-f]|7f)/i.test(path)) return "its path holds an encoded control character";
  // A parameter after a dot segment is still a dot segment to some servers.
  const climbs = decodedDots(path)
    .split(/[/\\]/)
    .some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment));
  return climbs ? "its path holds a dot segment" : null;
}

/** Visible ASCII without the two signs that some read as a slash, or as the end. */
function isPlain(text: string): boolean {
  return /^[!-"$-[\]-~]*$/.test(text);
}

/** Undoes the encodings a server further on might undo, however often they were applied. */
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

function byPrefix(target: string, named: ReadonlySet<string>): Chosen | "unknown name" | null {
  const first = /^\/([a-z]+)(?=[/?]|$)/.exec(target)?.[1];
  const name = builtIn.find((known) => known === first);
  if (name !== undefined) return chosenFor(name, withoutPrefix(target, `/${name}`));
  const own = /^\/u\/([^/?]*)/.exec(target)?.[1];
  if (own === undefined) return null;
  if (!named.has(own)) return "unknown name";
  return { upstream: own, label: "named", rest: withoutPrefix(target, `/u/${own}`) };
}

function withoutPrefix(target: string, prefix: string): string {
  const rest = target.slice(prefix.length);
  return rest.startsWith("/") ? rest : `/${rest}`;
}

function chosenFor(name: BuiltIn, rest: string): Chosen {
  return { upstream: name, label: name, rest };
}

/** Paths that only one of the four has. `/v1/models` and its like exist in several: see `byHeader`. */
const uniquePaths: readonly { readonly pattern: RegExp; readonly name: BuiltIn }[] = [
  { pattern: /^\/v1\/messages(?:\/|$)/, name: "anthropic" },
  { pattern: /^\/api\//, name: "anthropic" },
  { pattern: /^\/v1\/(?:chat\/completions|responses)(?:\/|$)/, name: "openai" },
  { pattern: /^\/(?:upload\/)?v1(?:alpha|beta)\//, name: "gemini" },
  { pattern: /^\/(?:model\/|inference-profiles(?:\/|$))/, name: "bedrock" },
];

function byPath(target: string): Chosen | null {
  const path = plainPath(target);
  const found = uniquePaths.find(({ pattern }) => pattern.test(path));
  return found === undefined ? null : chosenFor(found.name, target);
}

/** For matching only. A base URL that ends in a slash gives a doubled one, and that is passed on doubled. */
function plainPath(target: string): string {
  const path = pathOf(target);
  return path.includes("//") ? path.replace(/\/{2,}/g, "/") : path;
}

function byHeader({ target, head }: Asked): Chosen | null {
  const has = (name: string): boolean => headerOf(head, name) !== undefined;
  if (has("anthropic-version") || has("x-api-key")) return chosenFor("anthropic", target);
  if (has("x-goog-api-key")) return chosenFor("gemini", target);
  return plainPath(target).startsWith("/v1/") ? chosenFor("openai", target) : null;
}

/**
 * By the end of the path, whatever the upstream: several of them speak the protocol of another one, and a
 * user's own upstream may put anything in front.
 */
const recordedPaths: readonly { readonly pattern: RegExp; readonly protocol: Protocol }[] = [
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

function protocolOf(method: string, rest: string): Protocol | null {
  if (method !== "POST") return null;
  const path = plainPath(rest);
  return recordedPaths.find(({ pattern }) => pattern.test(path))?.protocol ?? null;
}
