import { apiPath } from "./api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "./call.ts";
import { wantsJson } from "./json-output.ts";
import { findSession } from "./session-choice.ts";
import { exitCodes } from "./usage.ts";

const clearScreen = `${String.fromCharCode(27)}[2J${String.fromCharCode(27)}[H`;
/** What happens faster than anybody reads is shown together. */
const gatherMs = 250;

/** Looks once; with `--watch`, again after everything that happens, until it is interrupted. */
export async function watching(
  call: ReadyCall,
  look: (call: ReadyCall) => Promise<number>,
  word?: string,
): Promise<number> {
  if (!call.flags.has("watch")) return await look(call);
  const place = await watchedPath(call, word);
  if (typeof place !== "string") return giveUp(call, place);
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  process.once("SIGINT", interrupt);
  try {
    const opened = await call.api.events(place, ending.signal);
    if (!opened.ok) return ending.signal.aborted ? exitCodes.interrupted : giveUp(call, opened.problem);
    // Listening comes first: what happens during the first look is looked at by the next.
    const first = await look(call);
    if (first !== exitCodes.ok) return first;
    await lookAgain(call, look, opened.value);
    if (ending.signal.aborted) return exitCodes.interrupted;
  } finally {
    ending.abort();
    process.off("SIGINT", interrupt);
  }
  if (!isQuiet(call)) call.screen.err(`Aperture on ${call.api.url} has ended, or the connection to it.`);
  return exitCodes.stopped;
}

/** Without a session it is about everything that happens. */
async function watchedPath(call: ReadyCall, word: string | undefined) {
  const given = word ?? call.flags.get("session");
  if (given === undefined) return apiPath("/events");
  const found = await findSession(call.api, given);
  return found.ok ? apiPath("/events", { session: found.value.session.id }) : found.problem;
}

async function lookAgain(
  call: ReadyCall,
  look: (call: ReadyCall) => Promise<number>,
  events: AsyncIterable<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  let looking = Promise.resolve();
  const again = () => {
    timer = null;
    looking = looking.then(async () => {
      // On a terminal the new picture takes the place of the old one; a file keeps all of them.
      if (call.screen.isTerminal && !wantsJson(call)) call.screen.bytes(Buffer.from(clearScreen));
      await look(call);
    });
  };
  for await (const _ of events) timer ??= setTimeout(again, gatherMs);
  if (timer !== null) {
    clearTimeout(timer);
    again();
  }
  await looking;
}
