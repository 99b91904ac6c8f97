import { parseRoute, pathOf, type Route } from "./routes.ts";
import { createStore, useStore } from "./store.ts";

const current = createStore<Route>(parseRoute(location.pathname, location.search));
addEventListener("popstate", () => current.set(parseRoute(location.pathname, location.search)));

export function useRoute(): Route {
  return useStore(current);
}

export function currentRoute(): Route {
  return current.get();
}

/** Shows a route. With `replace` the browser's history gets no new entry. */
export function go(route: Route, historyMode: "push" | "replace" = "push"): void {
  const path = pathOf(route);
  if (historyMode === "replace") history.replaceState(null, "", path);
  else if (path !== location.pathname + location.search) history.pushState(null, "", path);
  current.set(route);
}
