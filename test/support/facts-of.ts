import type { Facts } from "../../src/engine/frames/facts.ts";
import { type BlockView, factOf } from "../../src/engine/moment/index.ts";

/** All facts of a block in a view. */
export function factsOf(blockView: BlockView): Facts {
  return {
    level: factOf(blockView, "level"),
    pin: factOf(blockView, "pin"),
    ttl: factOf(blockView, "ttl"),
    focus: factOf(blockView, "focus"),
    selection: factOf(blockView, "selection"),
    archive: factOf(blockView, "archive"),
    withhold: factOf(blockView, "withhold"),
    reference: factOf(blockView, "reference"),
    supersession: factOf(blockView, "supersession"),
  };
}
