import { useEffect, useState } from "react";
import { CallError, read } from "../api/client.ts";

export type Once<T> = { readonly data: T | null; readonly error: CallError | null };

/**
 * Reads what does not change any more: frames that come later read nothing again. Another key reads anew, and
 * what was there stays until it comes.
 */
export function useOnce<T>(path: string, key: string): Once<T> {
  const [found, setFound] = useState<Once<T> & { readonly path: string }>({ path, data: null, error: null });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says when to read it again.
  useEffect(() => {
    const stopper = new AbortController();
    read<T>(path, stopper.signal).then(
      (data) => setFound({ path, data, error: null }),
      (error: unknown) => {
        if (stopper.signal.aborted) return;
        const known = error instanceof CallError ? error : new CallError("unreadable", String(error), 0);
        setFound({ path, data: null, error: known });
      },
    );
    return () => stopper.abort();
  }, [path, key]);
  return found.path === path ? found : { data: null, error: null };
}
