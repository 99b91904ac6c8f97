import type { MouseEvent } from "react";
import { pathOf, type Route } from "../base/paths.ts";
import { go } from "../base/route.ts";

/** A link of the panel: followed in place, unless the browser is asked for another window. */
export function leadsTo(route: Route) {
  return {
    href: pathOf(route),
    onClick: (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(route);
    },
  };
}
