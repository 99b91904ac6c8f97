/** Why a request was refused, in the terms of the interface it came through. */
export type Problem = {
  readonly status: number;
  readonly type: string;
  readonly message: string;
  /** The machine-readable reason, where the interface has one. */
  readonly code?: string;
};

/** The place comes first, so that a reader finds it: `messages.3.content.0: ...`. */
export function invalid(place: string, message: string): Problem {
  return { status: 400, type: "invalid_request_error", message: `${place}: ${message}` };
}

/** Rules yield what they find in the order of the request; only the first is reported. */
export function firstOf(problems: Iterable<Problem>): Problem | null {
  for (const problem of problems) return problem;
  return null;
}

export function errorBody(problem: Problem, requestId: string): Buffer {
  const { type, message, code } = problem;
  const details = code === undefined ? {} : { details: { error_code: code } };
  return Buffer.from(
    JSON.stringify({ type: "error", error: { type, message, ...details }, request_id: requestId }),
  );
}
