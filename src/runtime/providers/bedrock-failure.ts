import { type Failure, problemOf } from "./failure.ts";

/** What Bedrock's exceptions are called, and the status each has: inside an answer they come without one. */
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

/** Sorts what the official client threw, by the fields that it documents. */
export function bedrockFailure(error: unknown, begun: boolean): Failure {
  const problem = problemOf(error);
  if (!(error instanceof Error)) return { type: "broken", problem };
  const { $metadata, $response } = error as Error & Annotated; // by the client, where there was an answer
  const status = statuses.get(error.name) ?? $metadata?.httpStatusCode ?? 0;
  if (status >= 400) {
    const retryAfter = $response?.headers?.["retry-after"] ?? null;
    return { type: "refused", status, problem: error.message || error.name, retryAfter, isFinal: false };
  }
  if (begun || status > 0) return { type: "broken", problem };
  return { type: isOfTheNetwork(error) ? "unreachable" : "setup", problem };
}

type Annotated = {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>> };
};

/** Errors of sockets have a code of the system; everything else went wrong before there was one. */
function isOfTheNetwork(error: Error): boolean {
  return error.name === "TimeoutError" || ("code" in error && typeof error.code === "string");
}
