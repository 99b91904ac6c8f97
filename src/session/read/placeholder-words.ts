import { must } from "../../base/index.ts";
import { factValue, isWithheld, notesOf, type Place, shownOf, wantedOf } from "../../engine/index.ts";
import { levelLine, placeholder } from "../../render/index.ts";
import type { Store } from "../../store/index.ts";
import { longMark, withoutShownMark, withShownMark } from "./mark.ts";

/** What stands for a block that is pruned, or is to be; null where it is neither, or withheld. */
export async function placeholderWords(store: Store, place: Place): Promise<string | null> {
  const { moment, view, block } = place;
  // The model's own words stay as they are: a line of ours in its mouth would teach it to write such lines.
  const isSpoken = block.kind === "reasoning" || block.kind === "assistant";
  const willBe = wantedOf(place) === "placeholder" && !isSpoken;
  const isPruned = willBe || shownOf(moment, view, block.id) === "placeholder";
  if (!isPruned || isWithheld(place)) return null;
  const { tokens, renditions } = must(notesOf(moment, block.id), "a block that is there has notes");
  const size = tokens?.count ?? 0;
  // An input has no place for a line: it is shown short, and the line beside it.
  if (block.kind === "tool-call") return shown(levelLine(longMark, lowered(block.id, size)));
  const stored = renditions.minimal === undefined ? null : await store.content(renditions.minimal.content);
  const hint = stored?.ok ? Buffer.from(stored.value).toString("utf8") : "";
  const header = { block: block.id, kind: block.kind, tokens: size, exact: false, ttl: null, state: null };
  const reason = factValue(place, "archive")?.reason ?? "";
  const line = placeholder(
    { nonce: longMark, mode: "compact", turn: block.turn },
    { block: header, reason, hint: withoutShownMark(hint) },
  );
  return shown(line);
}

function lowered(block: number, tokens: number) {
  return { block, as: "placeholder", tokens } as const;
}

function shown(line: string): string {
  return withShownMark(line, longMark);
}
