import { Doings } from "../command/doings.ts";
import { IdPool, type Sharing } from "./id-pool.ts";
import { LinePolicy } from "./line-policy.ts";
import { NameBook } from "./name-book.ts";
import { PromptSizes } from "./prompt-sizes.ts";
import type { RecordedLine } from "./recorded-line.ts";
import { Renditions } from "./renditions.ts";
import type { StreamIndex } from "./stream-index.ts";
import { Summaries } from "./summaries.ts";

/** A stream of which nothing is known yet but its index. */
export function newLine(name: string, index: StreamIndex, sharing: Sharing): RecordedLine {
  return {
    name,
    index,
    ids: new IdPool(index.stream, sharing),
    summaries: new Summaries(),
    sizes: new PromptSizes(),
    names: new NameBook(),
    renditions: new Renditions(),
    policy: new LinePolicy(),
    doings: new Doings(),
    isUrged: false,
  };
}
