/** What kept a verb from its answer, in words, and the exit code it ends with. */
export type Problem = { readonly exit: number; readonly message: string };
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

export function succeed<T>(value: T): Outcome<T> {
  return { ok: true, value };
}

export function stop(exit: number, message: string): { readonly ok: false; readonly problem: Problem } {
  return { ok: false, problem: { exit, message } };
}
