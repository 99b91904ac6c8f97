import type { Moment, Stream } from "../../engine/index.ts";
import { blockRows } from "./block-row.ts";
import { modelIn, streamRow, streamsOf, viewIn } from "./look.ts";
import type { Library } from "./questions.ts";
import type { StreamDetail, WindowRow } from "./rows.ts";
import { streamTitle } from "./session-name.ts";
import { countedTokens } from "./state-row.ts";
import { lastUsage, windowRow } from "./window-row.ts";

/** The streams of a session, each with what it was asked and how full it is: the main one and sub-agents. */
export async function streamDetails(
  library: Pick<Library, "store" | "windowOf">,
  moment: Moment,
): Promise<readonly StreamDetail[]> {
  const details: StreamDetail[] = [];
  for (const stream of streamsOf(moment)) {
    const title = await streamTitle(library.store, moment, stream);
    details.push({ ...streamRow(moment, stream), title, window: windowIn(library, moment, stream) });
  }
  return details;
}

/** As the state of the stream has it. */
function windowIn({ windowOf }: Pick<Library, "windowOf">, moment: Moment, stream: Stream): WindowRow {
  const view = viewIn(moment, stream);
  return windowRow({
    usage: view === null ? null : lastUsage(moment, view),
    estimate: () => (view === null ? 0 : countedTokens(blockRows(moment, stream, view))),
    size: windowOf(modelIn(moment, stream)),
  });
}
