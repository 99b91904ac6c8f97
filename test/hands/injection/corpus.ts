import { commandStrings } from "./commands.ts";
import { fakeStrings } from "./fakes.ts";
import { wordStrings } from "./words.ts";

/** Something that content may say. All of it was made up for this test. */
export type Injected = {
  readonly text: string;
  readonly kind: string;
  /** A command line by the rule of text mode: only where the model itself says it does it count. */
  readonly isLine: boolean;
  /** Whether anybody who reads it sees a command, an id of ours or the mark of our lines. */
  readonly speaks: boolean;
};

/** Every string once. */
export function injectionCorpus(nonce: string): readonly Injected[] {
  const all = [...commandStrings(nonce), ...fakeStrings(nonce), ...wordStrings(nonce)];
  return [...new Map(all.map((one) => [one.text, one])).values()];
}
