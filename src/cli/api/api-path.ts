import type { apiPrefix } from "../../control/index.ts";
import type { lastSession } from "../../queries/index.ts";

// Only types are imported: the compiler keeps these values equal to the server's, and a verb that calls the
// API does not load the server's code.
const prefix: typeof apiPrefix = "/api/v1";

/** The word for the session that was used last. */
export const lastWord: typeof lastSession = "last";

/** `apiPath("/sessions", { limit: 5 })`; undefined values are left out. */
export function apiPath(
  path: string,
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `${prefix}${path}${given.length === 0 ? "" : `?${given.join("&")}`}`;
}

export function sessionPath(
  session: string,
  rest = "",
  query: Readonly<Record<string, string | number | undefined>> = {},
): string {
  return apiPath(`/sessions/${encodeURIComponent(session)}${rest}`, query);
}
