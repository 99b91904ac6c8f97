/** The reason a request was refused, in the terms of the API. */
export type RequestProblem = {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** The machine-readable reason, if the API has one. */
  readonly code?: string;
};

/** The message begins with the path of the problem: `messages.3.content.0: ...`. */
export function invalid(path: string, message: string): RequestProblem {
  return { status: 400, type: "invalid_request_error", message: `${path}: ${message}` };
}

/** Rules yield problems in the order of the request; only the first is reported. */
export function firstProblem(problems: Iterable<RequestProblem>): RequestProblem | null {
  for (const problem of problems) return problem;
  return null;
}

export function problemBody(problem: RequestProblem, requestId: string): Buffer {
  const { type, message, code } = problem;
  const details = code === undefined ? {} : { details: { error_code: code } };
  return Buffer.from(
    JSON.stringify({ type: "error", error: { type, message, ...details }, request_id: requestId }),
  );
}
