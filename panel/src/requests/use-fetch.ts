import { useEffect, useState } from "react";
import { CallError, read } from "../api/client.ts";

export type Fetched<T> = { readonly data: T | null; readonly error: CallError | null };

/**
 * Reads a path once, for data that no later frame changes. Another `key` reads it again; the old data stays
 * until then.
 */
export function useFetch<T>(path: string, key: string): Fetched<T> {
  const [result, setResult] = useState<Fetched<T> & { readonly path: string }>({
    path,
    data: null,
    error: null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new key reads again.
  useEffect(() => {
    const controller = new AbortController();
    read<T>(path, controller.signal).then(
      (data) => setResult({ path, data, error: null }),
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const known = error instanceof CallError ? error : new CallError("unreadable", String(error), 0);
        setResult({ path, data: null, error: known });
      },
    );
    return () => controller.abort();
  }, [path, key]);
  return result.path === path ? result : { data: null, error: null };
}
