/** The reason why a verb has no result, and the exit code it ends with. */
export type CliProblem = { readonly exit: number; readonly message: string };
export type CliResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: CliProblem };

export function succeed<T>(value: T): CliResult<T> {
  return { ok: true, value };
}

export function stop(exit: number, message: string): { readonly ok: false; readonly problem: CliProblem } {
  return { ok: false, problem: { exit, message } };
}

/** The code of a system error, such as ENOENT. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? `${error.code}` : "unknown error";
}
