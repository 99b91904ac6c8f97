import { loadO200k } from "../../src/tokens/index.ts";

/** Exact counts, for tests of layers that may not know the tokenizer. */
export const o200k = await loadO200k();
