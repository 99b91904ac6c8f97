import { exchangesOf, type Moment } from "../../engine/index.ts";
import { answerMax, ingestRequest } from "../../protocols/index.ts";
import { chosenStream } from "./look.ts";
import { memoryOf } from "./memory.ts";
import type { Library } from "./questions.ts";

/** Tokens the client of a stream left for the answer when it last asked; null: it did not say. */
export async function reservedIn(
  library: Library,
  moment: Moment,
  wanted: number | undefined,
): Promise<number | null> {
  const chosen = chosenStream(moment, wanted);
  const stream = chosen.ok ? chosen.value : null;
  const last = exchangesOf(moment).findLast(({ role, stream: of }) => role === "turn" && of === stream?.id);
  if (stream === null || last === undefined) return null;
  const { session } = moment.state;
  const { reserved } = memoryOf(library);
  const known = reserved.get(session, last.id);
  if (known !== null) return known === 0 ? null : known;
  const body = await library.store.body({ session, exchange: last.id, side: "client-request" });
  // A body that is not stored yet, or not any more, takes the mark away and nothing else.
  if (!body.ok) return null;
  const request = ingestRequest(Buffer.from(body.value), null);
  const tokens = request === null ? 0 : answerMax(request);
  reserved.set(session, last.id, tokens);
  return tokens === 0 ? null : tokens;
}
