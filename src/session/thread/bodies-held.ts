import { assert, must } from "../../base/index.ts";
import { asBuffer } from "../exchange.ts";
import type { Crossing } from "./bodies-sent.ts";

/** The end of a thread that bodies cross to. They may be put together in another order than they came. */
export class BodiesHeld {
  readonly #lines = new Map<string, { readonly request: string; readonly body: Buffer }>();
  /** Bodies that are to be forgotten, and have not been put together yet. */
  readonly #doomed = new Map<string, string>();

  /** The body of a request, whole again. Throws where what it is told in terms of is not here. */
  join(request: string, { line, before, shared, rest, forgotten }: Crossing): Buffer {
    for (const told of forgotten) this.#forget(told.line, told.request);
    const body = shared === 0 ? asBuffer(rest) : Buffer.concat([this.#start(line, before, shared), rest]);
    if (line !== null) this.#hold(line, request, body);
    return body;
  }

  #start(line: string | null, before: string | null, length: number): Buffer {
    const held = must(this.#lines.get(line ?? ""), "the body before is here");
    assert(held.request === before && held.body.length >= length, "it is the one that is meant");
    return held.body.subarray(0, length);
  }

  #hold(line: string, request: string, body: Buffer): void {
    if (this.#doomed.get(line) === request) this.#lines.delete(line);
    else this.#lines.set(line, { request, body });
    this.#doomed.delete(line);
  }

  #forget(line: string, request: string): void {
    if (this.#lines.get(line)?.request === request) this.#lines.delete(line);
    else this.#doomed.set(line, request);
  }
}
