import { readFileSync } from "node:fs";

/** How a client writes its requests, as far as it is not recorded. */
export type ClientShape = {
  /** System text and tools together. */
  readonly overheadChars: number;
  readonly toolsChars: number;
  /** How many of its system texts, and of its last messages, bear a cache mark. */
  readonly systemMarks: number;
  readonly messageMarks: number;
  readonly userAgent: string;
};

type Said<T> = { readonly value: T; readonly source: string };

/** Everything the figures rest on that is not in the recordings, each with where it comes from. */
export type Assumptions = {
  readonly clients: Readonly<Record<string, ClientShape>>;
  readonly otherClient: ClientShape;
  readonly ownTokens: Said<number>;
  readonly readPrices: Said<readonly number[]>;
  readonly excerptChars: Said<number>;
  readonly placeholderChars: Said<number>;
};

const file = "bench/assumptions.json";

export function readAssumptions(): Assumptions {
  return JSON.parse(readFileSync(file, "utf8")) as Assumptions;
}
