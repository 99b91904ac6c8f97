import type { Json } from "../base/index.ts";
import { minimal } from "./minimal.ts";
import type { Source } from "./source.ts";
import { trimInput } from "./trim-input.ts";
import { trimText } from "./trim-text.ts";

/**
 * The renditions that need no model. Every answer is a function of the source alone; the longer ones come as
 * promises, because nobody may count on having them at once.
 */
export class Levels {
  /** Null if it would not be worth it. */
  trimmed(source: Source): Promise<string | null> {
    return Promise.resolve(trimText(source));
  }

  minimal(source: Source): string {
    return minimal(source);
  }

  /** The input of a tool call, its long strings trimmed; null if it would not be worth it. */
  trimmedInput(input: Json): Promise<Json | null> {
    return Promise.resolve(trimInput(input));
  }
}
