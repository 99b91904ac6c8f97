import { ok, type Result } from "../base/index.ts";
import type { State, Stream } from "../engine/index.ts";
import { type Moment, now } from "../engine/moment/index.ts";
import { modelIn, streamsOf, viewIn } from "../log/index.ts";
import { lastUsage, type WindowRow, windowRow } from "../recorder/index.ts";
import type { SessionDetail, StreamDetail } from "./answers/session-answers.ts";
import { blockRows } from "./block-row.ts";
import { streamRow } from "./choose-stream.ts";
import type { QueryDeps } from "./queries.ts";
import { streamTitle } from "./session-name.ts";
import { sessionRowNow } from "./sessions.ts";
import { countedTokens } from "./state-row.ts";

export async function sessionDetail(deps: QueryDeps, state: State): Promise<Result<SessionDetail>> {
  const row = await sessionRowNow(deps, state);
  if (!row.ok) return row;
  return ok({ seq: state.seq, session: row.value, streams: await streamDetails(deps, now(state)) });
}

/** The streams of a session, the main one and sub-agents, each with its title and window. */
async function streamDetails(
  deps: Pick<QueryDeps, "store" | "windowOf">,
  moment: Moment,
): Promise<readonly StreamDetail[]> {
  const details: StreamDetail[] = [];
  for (const stream of streamsOf(moment)) {
    const title = await streamTitle(deps.store, moment, stream);
    details.push({ ...streamRow(moment, stream), title, window: windowIn(deps, moment, stream) });
  }
  return details;
}

/** The same window as in the state of the stream. */
function windowIn({ windowOf }: Pick<QueryDeps, "windowOf">, moment: Moment, stream: Stream): WindowRow {
  const view = viewIn(moment, stream);
  return windowRow({
    usage: view === null ? null : lastUsage(moment, view),
    estimate: () => (view === null ? 0 : countedTokens(blockRows(moment, stream, view))),
    size: windowOf(modelIn(moment, stream)),
  });
}
