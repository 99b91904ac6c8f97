/** A screen of the panel with its parameters, as encoded in the URL. */
export type Route =
  | { readonly screen: "sessions" }
  | {
      readonly screen: "context";
      readonly session: string;
      readonly at: number | null;
      readonly block: number | null;
      /** Null for the main stream. */
      readonly stream: number | null;
    }
  | {
      readonly screen: "requests";
      readonly session: string;
      readonly exchange: number | null;
      readonly tab: RequestTab;
    }
  | { readonly screen: "approvals"; readonly session: string }
  | { readonly screen: "unknown"; readonly path: string };

export type ContextRoute = Extract<Route, { readonly screen: "context" }>;

/** The screens of one session. */
export type SessionRoute = Extract<Route, { readonly session: string }>;

export const requestTabs = ["diff", "client", "upstream", "response", "facts"] as const;
export type RequestTab = (typeof requestTabs)[number];

export function parseRoute(path: string, search: string): Route {
  const [first, session, screen, exchange, tab, ...rest] = path.split("/").filter((part) => part !== "");
  if (first === undefined) return { screen: "sessions" };
  if (first !== "s" || session === undefined || rest.length > 0) return { screen: "unknown", path };
  if (screen === undefined)
    return { screen: "context", session, ...contextQuery(new URLSearchParams(search)) };
  if (screen === "approvals" && exchange === undefined) return { screen: "approvals", session };
  if (screen !== "requests") return { screen: "unknown", path };
  return {
    screen: "requests",
    session,
    exchange: numberOf(exchange ?? null),
    tab: requestTabs.find((each) => each === tab) ?? "diff",
  };
}

export function pathOf(route: Route): string {
  switch (route.screen) {
    case "sessions":
      return "/";
    case "context":
      return `/s/${route.session}${queryOf({ at: route.at, stream: route.stream, block: route.block })}`;
    case "requests": {
      const { session, exchange, tab } = route;
      const detail = exchange === null ? "" : `/${exchange}${tab === "diff" ? "" : `/${tab}`}`;
      return `/s/${session}/requests${detail}`;
    }
    case "approvals":
      return `/s/${route.session}/approvals`;
    case "unknown":
      return route.path;
  }
}

export function contextRoute(session: string): ContextRoute {
  return { screen: "context", session, at: null, block: null, stream: null };
}

export function requestsRoute(session: string): Route {
  return { screen: "requests", session, exchange: null, tab: "diff" };
}

function contextQuery(query: URLSearchParams) {
  return {
    at: numberOf(query.get("at")),
    block: numberOf(query.get("block")),
    stream: numberOf(query.get("stream")),
  };
}

function queryOf(fields: Readonly<Record<string, number | null>>): string {
  const set = Object.entries(fields).filter(([, value]) => value !== null);
  return set.length === 0 ? "" : `?${set.map(([name, value]) => `${name}=${value}`).join("&")}`;
}

function numberOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
