import { exitCodes } from "../exit-codes.ts";
import { wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { apiPath } from "./api-path.ts";
import { findSession } from "./session-choice.ts";

const clearScreen = `${String.fromCharCode(27)}[2J${String.fromCharCode(27)}[H`;
/** Events that follow each other faster than a person reads are shown together. */
const gatherMs = 250;

/** Runs `show` once; with `--watch`, again after every event, until it is interrupted. */
export async function runOrWatch(
  call: ReadyCall,
  show: (call: ReadyCall) => Promise<number>,
  session?: string,
): Promise<number> {
  if (!call.flags.has("watch")) return await show(call);
  const path = await eventsPath(call, session);
  if (typeof path !== "string") return reportProblem(call, path);
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  process.once("SIGINT", interrupt);
  try {
    const opened = await call.api.events(path, ending.signal);
    if (!opened.ok)
      return ending.signal.aborted ? exitCodes.interrupted : reportProblem(call, opened.problem);
    // The events are open before the first look, so none is missed in between.
    const first = await show(call);
    if (first !== exitCodes.ok) return first;
    await repeatOnEvents(call, show, opened.value);
    if (ending.signal.aborted) return exitCodes.interrupted;
  } finally {
    ending.abort();
    process.off("SIGINT", interrupt);
  }
  if (!isQuiet(call)) call.screen.err(connectionLostText(call));
  return exitCodes.stopped;
}

export function connectionLostText({ api }: Pick<ReadyCall, "api">): string {
  return `Lost the connection to Aperture on ${api.url}.`;
}

/** Without a session, the events of all sessions. */
async function eventsPath(call: ReadyCall, session: string | undefined) {
  const given = session ?? call.flags.get("session");
  if (given === undefined) return apiPath("/events");
  const found = await findSession(call.api, given);
  return found.ok ? apiPath("/events", { session: found.value.session.id }) : found.problem;
}

async function repeatOnEvents(
  call: ReadyCall,
  show: (call: ReadyCall) => Promise<number>,
  events: AsyncIterable<unknown>,
): Promise<void> {
  let timer: NodeJS.Timeout | null = null;
  let showing = Promise.resolve();
  const showAgain = () => {
    timer = null;
    showing = showing.then(async () => {
      // A terminal shows only the newest output; a file keeps all of it.
      if (call.screen.isTerminal && !wantsJson(call)) call.screen.bytes(Buffer.from(clearScreen));
      await show(call);
    });
  };
  for await (const _ of events) timer ??= setTimeout(showAgain, gatherMs);
  if (timer !== null) {
    clearTimeout(timer);
    showAgain();
  }
  await showing;
}
