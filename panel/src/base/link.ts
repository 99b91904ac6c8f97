import type { MouseEvent } from "react";
import { go } from "./navigation.ts";
import { pathOf, type Route } from "./routes.ts";

/** Props of a link to a screen. A click with a modifier key opens a new tab, as the browser does. */
export function linkTo(route: Route) {
  return {
    href: pathOf(route),
    onClick: (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(route);
    },
  };
}
