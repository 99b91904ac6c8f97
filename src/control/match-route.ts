import { type ApertureError, apertureError, limits } from "../base/index.ts";
import { type ApiRoute, apiPrefix, routes } from "./contract.ts";

/** A request to the control API: its method and the parts of its address. */
export type ControlRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
};

export type RouteMatch = {
  /** A route of this path, even if its method differs, so that access is checked before the method. */
  readonly route: ApiRoute;
  readonly params: Readonly<Record<string, string>>;
};

export function parseControlRequest(method: string | undefined, url: string | undefined): ControlRequest {
  const [path = "/", ...rest] = (url ?? "/").split("?");
  return { method: method ?? "GET", path, query: new URLSearchParams(rest.join("?")) };
}

export function matchRoute({ path, method }: ControlRequest): RouteMatch | null {
  const matches = routes.flatMap((route) => {
    const params = paramsOf(route.path, path);
    return params === null ? [] : [{ route, params }];
  });
  return matches.find(({ route }) => allowsMethod(route, method)) ?? matches[0] ?? null;
}

/** HEAD is allowed where GET is, except for `login`, which uses up its code. */
export function allowsMethod({ method, name }: ApiRoute, requestMethod: string): boolean {
  return requestMethod === method || (requestMethod === "HEAD" && method === "GET" && name !== "login");
}

export function allowedMethods(path: string): string {
  const own = routes.filter((route) => paramsOf(route.path, path) !== null);
  return ["GET", "HEAD", "POST", "PUT", "DELETE"]
    .filter((method) => own.some((route) => allowsMethod(route, method)))
    .join(", ");
}

function paramsOf(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const [patternParts, pathParts] = [pattern.split("/"), path.split("/")];
  if (patternParts.length !== pathParts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of patternParts.entries()) {
    const value = pathParts[index] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return null;
      continue;
    }
    // Blocks and exchanges have numbers. Session names are checked by their query.
    if (part === ":session" ? value === "" : !/^\d{1,15}$/.test(value)) return null;
    params[part.slice(1)] = value;
  }
  return params;
}

const pagePaths = ["/", "/approvals"];
const ownPaths = [...pagePaths, "/login", "/healthz", "/readyz", "/metrics"];
const ownFolders = ["/assets", "/s", apiPrefix];

/** Whether the panel's page is served there. The panel reads the rest of the address itself. */
export function isPagePath(path: string): boolean {
  return pagePaths.includes(path) || path.startsWith("/s/");
}

export function isPanelPath(path: string): boolean {
  return isPagePath(path) || path.startsWith("/assets/");
}

/** Whether the control server answers an address. All others belong to the models' APIs. */
export function isOwnPath(url: string): boolean {
  const path = url.split("?", 1)[0] ?? "";
  if (ownPaths.includes(path)) return true;
  return ownFolders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

const { rowsPerAnswerMax: rowsMax } = limits;

/** Refuses unknown, repeated or invalid parameters by name instead of ignoring them. */
export function queryProblem({ query }: ControlRequest, route: ApiRoute): ApertureError | null {
  for (const name of new Set(query.keys())) {
    if (!route.query.includes(name)) return invalid(`${safeName(name)} is not known here`);
    if (query.getAll(name).length > 1) return invalid(`${name} is given twice`);
    const value = query.get(name) ?? "";
    if (!isTextParam(name) && !/^\d{1,15}$/.test(value)) return invalid(`${name} must be a whole number`);
    if (name === "limit" && !isValidLimit(Number(value)))
      return invalid(`limit must be from 1 to ${rowsMax}`);
  }
  return null;
}

/** Parses `10..25`, both ends included, or one number; null if it is neither. */
export function parseRange(text: string): { readonly first: number; readonly last: number } | null {
  const [, first, last = first] = /^(\d{1,15})(?:\.\.(\d{1,15}))?$/.exec(text) ?? [];
  if (first === undefined || Number(last) < Number(first)) return null;
  return { first: Number(first), last: Number(last) };
}

export function numberParam({ query }: ControlRequest, name: string): number | undefined {
  const value = query.get(name);
  return value === null ? undefined : Number(value);
}

function isValidLimit(value: number): boolean {
  return value >= 1 && value <= rowsMax;
}

function isTextParam(name: string): boolean {
  return ["before", "session", "code", "detail", "messages", "blocks", "with", "level", "format"].includes(
    name,
  );
}

function invalid(problem: string): ApertureError {
  return apertureError("AP_QUERY_INVALID", { problem });
}

/** A caller's parameter name is repeated only if it is harmless. */
function safeName(name: string): string {
  return /^[\w.-]{1,40}$/.test(name) ? name : "a parameter";
}
