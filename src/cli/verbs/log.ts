import { setTimeout as sleep } from "node:timers/promises";
import type { ViewerEvent } from "../../control/index.ts";
import type { Frame } from "../../engine/index.ts";
import type { FrameEvent, FramesPage, StepRow, StepsPage } from "../../session/index.ts";
import { apiPath, sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import type { ServerEvent } from "../event-reader.ts";
import { frameWords, typesInWords } from "../format/frame-words.ts";
import { printable, printableJson } from "../format/printable.ts";
import { aligned, type Cell, tableWith } from "../format/table.ts";
import { timeText } from "../format/times.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";
import { stepWords } from "./reverse.ts";

const usualLimit = 20;
const framesPerRead = 200;
const framesReadEach = 5;
const framesReadMax = 1_000;
/** A frame is announced a moment before it is on disk. */
const [tries, pauseMs] = [20, 50];

export async function log(call: ReadyCall): Promise<number> {
  const { flags } = call;
  if (flags.has("steps") && (flags.has("watch") || flags.has("all"))) {
    return giveUp(call, { exit: exitCodes.usage, message: "--steps lists what there is; it stands alone." });
  }
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const { session, seq } = found.value;
  const limit = Number(flags.get("limit") ?? usualLimit);
  if (flags.has("steps")) return await steps(call, session.id, limit);
  // Frames that only keep books are left out, so more are read than are shown.
  const isWhole = wantsJson(call) || flags.has("all");
  const read = isWhole ? limit : Math.max(limit, Math.min(limit * framesReadEach, framesReadMax));
  const after = Math.max(0, seq - read);
  const isWatching = flags.has("watch");
  if (isWatching && wantsJson(call)) return await watch(call, { session: session.id, after });
  const path = sessionPath(session.id, "/frames", { after, limit: read });
  const reply = await call.api.json<FramesPage>(path);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { frames } = reply.value.value;
  printFrames(call, frames, limit);
  if (!isWatching) return exitCodes.ok;
  return await watch(call, { session: session.id, after: frames.at(-1)?.seq ?? after });
}

/** What was done to blocks, the newest last, with the numbers that undo takes. */
async function steps(call: ReadyCall, session: string, limit: number): Promise<number> {
  const reply = await call.api.json<StepsPage>(sessionPath(session, "/steps", { limit }));
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  const { screen, world } = call;
  if (rows.length === 0) {
    screen.err("Nothing was done to the blocks of this session yet.");
    return exitCodes.ok;
  }
  const cells = rows.map((row) => stepCells(row, world.nowMs()));
  const lines = tableWith(["step", "time", "holds", "what"], cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  if (!isQuiet(call)) screen.err("`aperture undo STEP` takes one back.");
  return exitCodes.ok;
}

function stepCells(row: StepRow, nowMs: number): readonly Cell[] {
  return [
    { text: `${row.step}`, align: "right", style: "bold" },
    { text: row.time === null ? "-" : timeText(row.time, nowMs) },
    row.done ? { text: "yes", style: "green" } : { text: "undone", style: "yellow" },
    { text: stepWords(row) },
  ];
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
  // What is told of a frame is said by the line of that frame.
  if (event.type === "notice" && event.seq === undefined) call.screen.err(printable(event.message, 300));
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

/** The last so many that say something. */
function printFrames({ screen, world, flags }: ReadyCall, frames: readonly Frame[], limit?: number): void {
  const told = flags.has("all") ? frames : frames.filter((frame) => !isBookkeeping(frame));
  const some = limit === undefined ? told : told.slice(-limit);
  const rows = some.map((frame) => frameCells(frame, frameWords(frame), world.nowMs()));
  for (const line of aligned(rows, screen.paint)) screen.out(line);
}

/** That something was referred to or can be shown shorter is no act: nobody did anything to a block. */
function isBookkeeping({ cause }: Pick<FrameEvent, "cause">): boolean {
  return cause.type === "policy" && cause.step === null;
}

function printAnnounced({ screen, world, flags }: ReadyCall, event: FrameEvent): void {
  if (isBookkeeping(event) && !flags.has("all")) return;
  const row = frameCells(event, typesInWords(event.deltaTypes), world.nowMs());
  for (const line of aligned([row], screen.paint)) screen.out(line);
}

type FrameHead = Pick<FrameEvent, "seq" | "time" | "actor" | "cause">;

function frameCells({ seq, time, actor, cause }: FrameHead, words: string, nowMs: number): readonly Cell[] {
  // The reason of a step is not why it was taken back.
  const reason = cause.type === "undo" ? "" : printable(cause.reason, 60);
  const lead = cause.type === "undo" ? "took it back: " : "";
  const step = cause.step === null ? "" : `step ${cause.step}`;
  return [
    { text: `${seq}`.padStart(5), align: "right", style: "dim" },
    { text: timeText(time, nowMs) },
    { text: printable(actor).padEnd(7), style: "bold" },
    { text: printable(cause.type).padEnd(8) },
    { text: step.padEnd(8), style: "cyan" },
    { text: `${lead}${words}${reason === "" ? "" : ` (${reason})`}` },
  ];
}
