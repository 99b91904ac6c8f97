import { type ClientFailure, problemOf } from "./failure.ts";

/** The status of each of Bedrock's exceptions: inside a streamed answer they come without one. */
const statuses: ReadonlyMap<string, number> = new Map([
  ["ValidationException", 400],
  ["AccessDeniedException", 403],
  ["ResourceNotFoundException", 404],
  ["ModelTimeoutException", 408],
  ["ModelErrorException", 424],
  ["ModelStreamErrorException", 424],
  ["ThrottlingException", 429],
  ["ModelNotReadyException", 429],
  ["InternalServerException", 500],
  ["ServiceUnavailableException", 503],
]);

/** Sorts an error of the official client by the fields that the client documents. */
export function bedrockFailure(error: unknown, isStarted: boolean): ClientFailure {
  const problem = problemOf(error);
  if (!(error instanceof Error)) return { type: "broken", problem };
  const { $metadata, $response } = error as Error & AwsErrorFields; // added if there was an answer
  const status = statuses.get(error.name) ?? $metadata?.httpStatusCode ?? 0;
  if (status >= 400) {
    const retryAfter = $response?.headers?.["retry-after"] ?? null;
    return { type: "refused", status, problem: error.message || error.name, retryAfter, isFinal: false };
  }
  if (isStarted || status > 0) return { type: "broken", problem };
  return { type: isNetworkError(error) ? "unreachable" : "setup", problem };
}

type AwsErrorFields = {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
};

/** Socket errors have a system code; any other error happened before a socket was opened. */
function isNetworkError(error: Error): boolean {
  return error.name === "TimeoutError" || ("code" in error && typeof error.code === "string");
}
