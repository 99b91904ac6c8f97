import { pathOf, type Route, routeOf } from "./paths.ts";
import { createStore, useStore } from "./store.ts";

const here = createStore<Route>(routeOf(location.pathname, location.search));
addEventListener("popstate", () => here.set(routeOf(location.pathname, location.search)));

export function useRoute(): Route {
  return useStore(here);
}

export function currentRoute(): Route {
  return here.get();
}

/** Replace: the step is not worth a place in the browser's history. */
export function go(route: Route, how: "push" | "replace" = "push"): void {
  const path = pathOf(route);
  if (how === "replace") history.replaceState(null, "", path);
  else if (path !== location.pathname + location.search) history.pushState(null, "", path);
  here.set(route);
}
