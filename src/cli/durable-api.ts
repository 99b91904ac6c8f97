import type { Screen } from "./call.ts";
import type { Api, Reply } from "./client.ts";
import type { Outcome } from "./outcome.ts";

/** The same API. Whoever acted is told where that is not on disk yet, whatever the verb prints. */
export function tellingDurable(api: Api, screen: Pick<Screen, "err">): Api {
  const told = <T>(outcome: Outcome<Reply<T>>): Outcome<Reply<T>> => {
    const answer = (outcome.ok ? outcome.value.value : null) as { readonly durable?: boolean } | null;
    if (answer?.durable === false)
      screen.err("It holds now, but it is not on disk yet: see aperture status.");
    return outcome;
  };
  return {
    ...api,
    put: async <T>(path: string, value: unknown) => told(await api.put<T>(path, value)),
    post: async <T>(path: string, value: unknown) => told(await api.post<T>(path, value)),
  };
}
