import type { AnswerUsage } from "./answer-message.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** A request as the upstream received it. */
export type UpstreamRequest = {
  /** Counts arrivals from 1. */
  readonly n: number;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values in turns, as received. */
  readonly rawHeaders: readonly string[];
  /** Empty for `faultAtHead`, which is asked before the body is read. */
  readonly body: Buffer;
  /** Null when it broke a rule, or is not a request for a model. */
  readonly parsed: ParsedRequest | null;
};

/** One request and its answer. The fields fill up while it runs. */
export type UpstreamExchange = {
  readonly n: number;
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  /** The exact bytes received so far. */
  readonly body: Buffer;
  /** Unknown top-level fields: accepted, but worth a look. */
  readonly unknownFields: readonly string[];
  readonly status: number | null;
  readonly responseHeaders: Readonly<Record<string, string>>;
  /** The exact bytes of the response body written so far. */
  readonly sent: Buffer;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly usage: AnswerUsage | null;
  readonly closed: "answered" | "client-left" | "reset" | null;
  readonly arrivedMs: number;
  readonly closedMs: number | null;
};

/** The writing side of an exchange. */
export class ExchangeRecord implements UpstreamExchange {
  readonly n: number;
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly arrivedMs = performance.now();
  unknownFields: readonly string[] = [];
  status: number | null = null;
  responseHeaders: Readonly<Record<string, string>> = {};
  error: { readonly type: string; readonly message: string } | null = null;
  usage: AnswerUsage | null = null;
  closed: "answered" | "client-left" | "reset" | null = null;
  closedMs: number | null = null;
  readonly #received = new ByteLog();
  readonly #sent = new ByteLog();

  constructor(head: Pick<UpstreamRequest, "n" | "method" | "target" | "rawHeaders">) {
    this.n = head.n;
    this.method = head.method;
    this.target = head.target;
    this.rawHeaders = head.rawHeaders;
  }

  get body(): Buffer {
    return this.#received.bytes();
  }

  get sent(): Buffer {
    return this.#sent.bytes();
  }

  receive(bytes: Buffer): void {
    this.#received.add(bytes);
  }

  send(bytes: Buffer): void {
    this.#sent.add(bytes);
  }

  /** Drops the bytes, so that long sessions fit into memory. */
  forget(): void {
    this.#received.forget();
    this.#sent.forget();
  }

  /** Records how the exchange ended; only the first call counts. */
  close(how: "answered" | "client-left" | "reset"): void {
    if (this.closed !== null) return;
    this.closed = how;
    this.closedMs = performance.now();
  }
}

/** Collects pieces of bytes and joins them when they are read. */
class ByteLog {
  #pieces: Buffer[] = [];

  add(bytes: Buffer): void {
    this.#pieces.push(bytes);
  }

  forget(): void {
    this.#pieces = [];
  }

  bytes(): Buffer {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)];
    return this.#pieces[0] ?? Buffer.alloc(0);
  }
}
