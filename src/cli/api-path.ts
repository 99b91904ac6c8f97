import type { apiPrefix } from "../control/index.ts";
import type { lastSession } from "../session/index.ts";

// Only the types are imported: the compiler keeps these equal to what the server uses, and a verb that asks
// one question does not load the whole server first.
const prefix: typeof apiPrefix = "/api/v1";

/** The word for the session used last. */
export const lastWord: typeof lastSession = "last";

/** `apiPath("/sessions", { limit: 5 })`; what is undefined is left out. */
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
