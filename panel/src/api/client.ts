import type { ErrorAnswer } from "./contract.ts";

/** Why a call failed: a code of the server, or `unreachable` where there was no answer at all. */
export class CallError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.name = "CallError";
    this.code = code;
    this.status = status;
  }

  get isLoggedOut(): boolean {
    return this.status === 401;
  }
}

type Sent = { readonly method: "GET" | "POST" | "PUT" | "DELETE"; readonly body?: unknown };

export async function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return await call<T>(path, { method: "GET" }, signal);
}

export async function write<T>(method: "POST" | "PUT" | "DELETE", path: string, body: unknown): Promise<T> {
  return await call<T>(path, { method, body });
}

export async function readText(path: string, signal?: AbortSignal): Promise<string> {
  const response = await reach(path, { method: "GET" }, signal);
  if (!response.ok) throw await refusalOf(response);
  return await response.text();
}

async function call<T>(path: string, sent: Sent, signal?: AbortSignal): Promise<T> {
  const response = await reach(path, sent, signal);
  if (!response.ok) throw await refusalOf(response);
  return (await response.json()) as T;
}

/** The header is what another page could not set: see the control API, "Who may ask". */
async function reach(path: string, { method, body }: Sent, signal?: AbortSignal): Promise<Response> {
  const writes =
    method === "GET"
      ? {}
      : {
          headers: { "content-type": "application/json", "x-aperture-csrf": "1" },
          body: JSON.stringify(body),
        };
  try {
    return await fetch(`/api/v1${path}`, { method, ...writes, ...(signal === undefined ? {} : { signal }) });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new CallError("unreachable", "Aperture does not answer. Is it running?", 0);
  }
}

async function refusalOf(response: Response): Promise<CallError> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return new CallError(error.code, error.message, response.status);
  } catch {
    return new CallError("unreadable", `The answer could not be read (${response.status}).`, response.status);
  }
}

/** The words of any failure, for people. */
export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
