import { commandStrings } from "./commands.ts";
import { fakeStrings } from "./fakes.ts";
import { wordStrings } from "./words.ts";

/** A text that content may hold. All of them were made up for this test. */
export type InjectedText = {
  readonly text: string;
  readonly kind: string;
  /** Whether it is a command line by the rule of text mode; it only counts if the model says it. */
  readonly isLine: boolean;
  /** Whether it visibly holds a command, a name of our tools or the nonce. */
  readonly speaks: boolean;
};

/** All texts, each once. */
export function injectionCorpus(nonce: string): readonly InjectedText[] {
  const all = [...commandStrings(nonce), ...fakeStrings(nonce), ...wordStrings(nonce)];
  return [...new Map(all.map((one) => [one.text, one])).values()];
}
