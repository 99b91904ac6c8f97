import { setTimeout as sleep } from "node:timers/promises";
import type { ViewerEvent } from "../../control/index.ts";
import type { Frame } from "../../engine/index.ts";
import type { FrameEvent, FramesPage } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import type { ServerEvent } from "../event-reader.ts";
import { frameWords, typesInWords } from "../format/frame-words.ts";
import { printable, printableJson } from "../format/printable.ts";
import { aligned, type Cell } from "../format/table.ts";
import { timeText } from "../format/times.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

const usualLimit = 20;
const framesPerRead = 200;
/** A frame is announced a moment before it is on disk. */
const [tries, pauseMs] = [20, 50];

export async function log(call: ReadyCall): Promise<number> {
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const { session, seq } = found.value;
  const limit = Number(call.flags.get("limit") ?? usualLimit);
  const after = Math.max(0, seq - limit);
  const isWatching = call.flags.has("watch");
  if (isWatching && wantsJson(call)) return await watch(call, { session: session.id, after });
  const reply = await call.api.json<FramesPage>(sessionPath(session.id, "/frames", { after, limit }));
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { frames } = reply.value.value;
  printFrames(call, frames);
  if (!isWatching) return exitCodes.ok;
  return await watch(call, { session: session.id, after: frames.at(-1)?.seq ?? after });
}

type Place = { readonly session: string; readonly after: number };

/** Until it is interrupted or Aperture ends. */
async function watch(call: ReadyCall, { session, after }: Place): Promise<number> {
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  process.once("SIGINT", interrupt);
  try {
    const opened = await call.api.events(apiPath("/events", { session, after }), ending.signal);
    if (!opened.ok) return ending.signal.aborted ? exitCodes.interrupted : giveUp(call, opened.problem);
    let seen = after;
    for await (const event of opened.value) seen = await printEvent(call, event, { session, after: seen });
  } finally {
    process.off("SIGINT", interrupt);
  }
  if (ending.signal.aborted) return exitCodes.interrupted;
  if (!isQuiet(call)) call.screen.err(`Aperture on ${call.api.url} has ended, or the connection to it.`);
  return exitCodes.stopped;
}

/** Answers with the seq that was printed last. */
async function printEvent(call: ReadyCall, { data }: ServerEvent, place: Place): Promise<number> {
  if (wantsJson(call)) {
    call.screen.out(printableJson(data));
    return place.after;
  }
  const event = JSON.parse(data) as ViewerEvent; // our own server speaks in the types of its contract
  if (event.type === "notice") call.screen.err(printable(event.message, 300));
  if (event.type === "degraded") {
    call.screen.err(
      `storage ${event.storage}${event.message === null ? "" : `: ${printable(event.message, 300)}`}`,
    );
  }
  if (event.type === "resync") return await printUpTo(call, { ...place, upTo: event.seq });
  if (event.type !== "frame" || event.seq <= place.after) return place.after;
  const seen = await printUpTo(call, { ...place, upTo: event.seq });
  if (seen < event.seq) printAnnounced(call, event);
  return Math.max(seen, event.seq);
}

/** Reads what is new, once more while what was announced is not there yet. */
async function printUpTo(
  call: ReadyCall,
  { session, after, upTo }: Place & { readonly upTo: number | null },
): Promise<number> {
  let seen = after;
  for (let tried = 0; tried < tries; tried += 1) {
    const path = sessionPath(session, "/frames", { after: seen, limit: framesPerRead });
    const reply = await call.api.json<FramesPage>(path);
    if (!reply.ok) return seen;
    const { frames } = reply.value.value;
    printFrames(call, frames);
    seen = frames.at(-1)?.seq ?? seen;
    if (seen >= (upTo ?? 0)) return seen;
    if (frames.length === 0) await sleep(pauseMs);
  }
  return seen;
}

function printFrames({ screen, world }: ReadyCall, frames: readonly Frame[]): void {
  const rows = frames.map((frame) => frameCells(frame, frameWords(frame), world.nowMs()));
  for (const line of aligned(rows, screen.paint)) screen.out(line);
}

function printAnnounced({ screen, world }: ReadyCall, event: FrameEvent): void {
  const row = frameCells(event, typesInWords(event.deltaTypes), world.nowMs());
  for (const line of aligned([row], screen.paint)) screen.out(line);
}

type FrameHead = Pick<FrameEvent, "seq" | "time" | "actor" | "cause">;

function frameCells({ seq, time, actor, cause }: FrameHead, words: string, nowMs: number): readonly Cell[] {
  const reason = printable(cause.reason, 60);
  return [
    { text: `${seq}`.padStart(5), align: "right", style: "dim" },
    { text: timeText(time, nowMs) },
    { text: printable(actor).padEnd(7), style: "bold" },
    { text: printable(cause.type).padEnd(8) },
    { text: `${words}${reason === "" ? "" : ` (${reason})`}` },
  ];
}
