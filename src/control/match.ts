import { type ApertureError, apertureError, limits } from "../base/index.ts";
import { apiPrefix, type Route, routes } from "./contract.ts";

/** What was asked for, cut into its parts. */
export type Asked = { readonly method: string; readonly path: string; readonly query: URLSearchParams };

export type Matched = {
  /** Any route of this path, so that what it needs is known before the method is judged. */
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
};

export function askedOf(method: string | undefined, url: string | undefined): Asked {
  const [path = "/", ...rest] = (url ?? "/").split("?");
  return { method: method ?? "GET", path, query: new URLSearchParams(rest.join("?")) };
}

export function matchRoute({ path, method }: Asked): Matched | null {
  const found = routes.flatMap((route) => {
    const params = paramsOf(route.path, path);
    return params === null ? [] : [{ route, params }];
  });
  return found.find(({ route }) => allows(route, method)) ?? found[0] ?? null;
}

/** HEAD is GET without the body, except where looking uses something up. */
export function allows({ method, name }: Route, asked: string): boolean {
  return asked === method || (asked === "HEAD" && method === "GET" && name !== "login");
}

export function methodsOf(path: string): string {
  const own = routes.filter((route) => paramsOf(route.path, path) !== null);
  return ["GET", "HEAD", "POST", "PUT", "DELETE"]
    .filter((method) => own.some((route) => allows(route, method)))
    .join(", ");
}

function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return null;
      continue;
    }
    // Blocks and exchanges have numbers. What a session may be called, its own reader judges.
    if (part === ":session" ? value === "" : !/^\d{1,15}$/.test(value)) return null;
    params[part.slice(1)] = value;
  }
  return params;
}

const pagePaths = ["/", "/approvals"];
const ownPaths = [...pagePaths, "/login", "/healthz", "/readyz", "/metrics"];
const ownFolders = ["/assets", "/s", apiPrefix];

/** Where the panel is shown. It reads the rest of its address itself: a link into it opens what it names. */
export function isPage(path: string): boolean {
  return pagePaths.includes(path) || path.startsWith("/s/");
}

export function isPanelPath(path: string): boolean {
  return isPage(path) || path.startsWith("/assets/");
}

/** Which addresses belong to us. All others belong to the models' APIs. */
export function isOurs(url: string): boolean {
  const path = url.split("?", 1)[0] ?? "";
  if (ownPaths.includes(path)) return true;
  return ownFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

const { rowsPerAnswerMax: rowsMax } = limits;

/** A parameter that is misspelt or out of bounds is named, rather than passed over. */
export function queryProblem({ query }: Asked, route: Route): ApertureError | null {
  for (const name of new Set(query.keys())) {
    if (!route.query.includes(name)) return invalid(`${show(name)} is not known here`);
    if (query.getAll(name).length > 1) return invalid(`${name} is given twice`);
    const value = query.get(name) ?? "";
    if (!isText(name) && !/^\d{1,15}$/.test(value)) return invalid(`${name} must be a whole number`);
    if (name === "limit" && !isLimit(Number(value))) return invalid(`limit must be from 1 to ${rowsMax}`);
  }
  return null;
}

/** `10..25`, both ends included, or one number; null where it is neither. */
export function rangeIn(text: string): { readonly first: number; readonly last: number } | null {
  const [, first, last = first] = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first)) return null;
  return { first: Number(first), last: Number(last) };
}

export function numberIn({ query }: Asked, name: string): number | undefined {
  const value = query.get(name);
  return value === null ? undefined : Number(value);
}

function isLimit(value: number): boolean {
  return value >= 1 && value <= rowsMax;
}

function isText(name: string): boolean {
  return ["before", "session", "code", "detail", "messages", "blocks", "with", "level", "format"].includes(
    name,
  );
}

function invalid(problem: string): ApertureError {
  return apertureError("AP_QUERY_INVALID", { problem });
}

/** What a stranger wrote is repeated only as far as it is harmless. */
function show(name: string): string {
  return /^[\w.-]{1,40}$/.test(name) ? name : "a parameter";
}
