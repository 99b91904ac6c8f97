import { nameTokens } from "../../render/index.ts";
import { type Counter, loadO200k } from "../../tokens/index.ts";
import type { Price } from "./name-book.ts";

/** Without the vocabulary. */
export const estimatedPrice: Price = (name) => ({ tokens: nameTokens(name), exact: false });

/** Names come again and again. */
const remembered = 20_000;

/**
 * What names cost: estimated until the vocabulary is there, then counted. It is loaded when the first name is
 * priced, since most sessions are only watched, and nothing waits for it.
 */
export function namePrice(load: () => Promise<Counter> = loadO200k): Price {
  const counted = new Map<string, { readonly tokens: number; readonly exact: boolean }>();
  let [counter, isLoading]: [Counter | null, boolean] = [null, false];
  const begin = (): void => {
    isLoading = true;
    // Without it an estimate will do.
    load().then(
      (loaded) => {
        counter = loaded;
      },
      () => undefined,
    );
  };
  return (name) => {
    if (!isLoading) begin();
    if (counter === null) return estimatedPrice(name);
    const known = counted.get(name);
    if (known !== undefined) return known;
    const price = { tokens: Math.max(1, counter(` ${name}`)), exact: true };
    if (counted.size >= remembered) counted.clear();
    counted.set(name, price);
    return price;
  };
}
