import { setTimeout as sleep } from "node:timers/promises";
import type { ViewerEvent } from "../../control/index.ts";
import type { Frame } from "../../engine/frames/index.ts";
import type { FrameEvent } from "../../log/index.ts";
import type { FramesPage, StepRow, StepsPage } from "../../queries/answers/index.ts";
import { apiPath, sessionPath } from "../api/api-path.ts";
import type { ServerEvent } from "../api/event-reader.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { connectionLostText } from "../api/watch.ts";
import { exitCodes } from "../exit-codes.ts";
import { deltaTypesText, frameText, reasonText } from "../format/frame-text.ts";
import { printable, printableJson } from "../format/printable.ts";
import { alignRows, type TableCell, tableLines } from "../format/table.ts";
import { timeText } from "../format/time-text.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";
import { stepText } from "./undo-redo.ts";

const usualLimit = 20;
const framesPerRead = 200;
const framesReadEach = 5;
const framesReadMax = 1_000;
/** A frame is announced shortly before it is on disk. */
const [tries, pauseMs] = [20, 50];

export async function log(call: ReadyCall): Promise<number> {
  const { flags } = call;
  if (flags.has("steps") && (flags.has("watch") || flags.has("all"))) {
    return reportProblem(call, {
      exit: exitCodes.usage,
      message: "--steps cannot be combined with --watch or --all.",
    });
  }
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const { session, seq } = found.value;
  const limit = Number(flags.get("limit") ?? usualLimit);
  if (flags.has("steps")) return await printSteps(call, session.id, limit);
  // Bookkeeping frames are left out, so more frames are read than printed.
  const isWhole = wantsJson(call) || flags.has("all");
  const read = isWhole ? limit : Math.max(limit, Math.min(limit * framesReadEach, framesReadMax));
  const after = Math.max(0, seq - read);
  const isWatching = flags.has("watch");
  if (isWatching && wantsJson(call)) return await followLog(call, { session: session.id, after });
  const path = sessionPath(session.id, "/frames", { after, limit: read });
  const reply = await call.api.json<FramesPage>(path);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { frames } = reply.value.value;
  printFrames(call, frames, limit);
  if (!isWatching) return exitCodes.ok;
  return await followLog(call, { session: session.id, after: frames.at(-1)?.seq ?? after });
}

/** The changes to blocks, newest last, with the step numbers that undo takes. */
async function printSteps(call: ReadyCall, session: string, limit: number): Promise<number> {
  const reply = await call.api.json<StepsPage>(sessionPath(session, "/steps", { limit }));
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  const { screen, system } = call;
  if (rows.length === 0) {
    screen.err("No block of this session has changed yet.");
    return exitCodes.ok;
  }
  const cells = rows.map((row) => stepCells(row, system.nowMs()));
  const lines = tableLines(["step", "time", "in effect", "change"], cells, screen.paint);
  for (const line of isQuiet(call) ? lines.slice(1) : lines) screen.out(line);
  if (!isQuiet(call)) screen.err("`aperture undo STEP` undoes one.");
  return exitCodes.ok;
}

function stepCells(row: StepRow, nowMs: number): readonly TableCell[] {
  return [
    { text: `${row.step}`, align: "right", style: "bold" },
    { text: row.time === null ? "-" : timeText(row.time, nowMs) },
    row.done ? { text: "yes", style: "green" } : { text: "undone", style: "yellow" },
    { text: stepText(row) },
  ];
}

type LogPosition = { readonly session: string; readonly after: number };

/** Prints new frames until it is interrupted or Aperture stops. */
async function followLog(call: ReadyCall, { session, after }: LogPosition): Promise<number> {
  const ending = new AbortController();
  const interrupt = () => ending.abort();
  process.once("SIGINT", interrupt);
  try {
    const opened = await call.api.events(apiPath("/events", { session, after }), ending.signal);
    if (!opened.ok)
      return ending.signal.aborted ? exitCodes.interrupted : reportProblem(call, opened.problem);
    let seen = after;
    for await (const event of opened.value) seen = await printEvent(call, event, { session, after: seen });
  } finally {
    process.off("SIGINT", interrupt);
  }
  if (ending.signal.aborted) return exitCodes.interrupted;
  if (!isQuiet(call)) call.screen.err(connectionLostText(call));
  return exitCodes.stopped;
}

/** Returns the seq that was printed last. */
async function printEvent(call: ReadyCall, { data }: ServerEvent, position: LogPosition): Promise<number> {
  if (wantsJson(call)) {
    call.screen.out(printableJson(data));
    return position.after;
  }
  const event = JSON.parse(data) as ViewerEvent; // our own server keeps to its contract
  // A notice about a frame repeats that frame's line.
  if (event.type === "notice" && event.seq === undefined) call.screen.err(printable(event.message, 300));
  if (event.type === "degraded") {
    call.screen.err(
      `storage ${event.storage}${event.message === null ? "" : `: ${printable(event.message, 300)}`}`,
    );
  }
  if (event.type === "resync") return await printUpTo(call, { ...position, upTo: event.seq });
  if (event.type !== "frame" || event.seq <= position.after) return position.after;
  const seen = await printUpTo(call, { ...position, upTo: event.seq });
  if (seen < event.seq) printAnnounced(call, event);
  return Math.max(seen, event.seq);
}

/** Prints the new frames. It retries while an announced frame is not readable yet. */
async function printUpTo(
  call: ReadyCall,
  { session, after, upTo }: LogPosition & { readonly upTo: number | null },
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

/** Prints the last frames, without bookkeeping. */
function printFrames({ screen, system, flags }: ReadyCall, frames: readonly Frame[], limit?: number): void {
  const shown = flags.has("all") ? frames : frames.filter((frame) => !isBookkeeping(frame));
  const some = limit === undefined ? shown : shown.slice(-limit);
  const rows = some.map((frame) => frameCells(frame, frameText(frame), system.nowMs()));
  for (const line of alignRows(rows, screen.paint)) screen.out(line);
}

/** Frames that only record references and renditions: they change no block. */
function isBookkeeping({ cause }: Pick<FrameEvent, "cause">): boolean {
  return cause.type === "policy" && cause.step === null;
}

function printAnnounced({ screen, system, flags }: ReadyCall, event: FrameEvent): void {
  if (isBookkeeping(event) && !flags.has("all")) return;
  const row = frameCells(event, deltaTypesText(event.deltaTypes), system.nowMs());
  for (const line of alignRows([row], screen.paint)) screen.out(line);
}

type FrameHead = Pick<FrameEvent, "seq" | "time" | "actor" | "cause">;

function frameCells(
  { seq, time, actor, cause }: FrameHead,
  text: string,
  nowMs: number,
): readonly TableCell[] {
  // An undo frame carries the reason of the step, not a reason to undo it.
  const reason = cause.type === "undo" ? "" : reasonText(cause.reason, 60);
  const lead = cause.type === "undo" ? "undid: " : "";
  const step = cause.step === null ? "" : `step ${cause.step}`;
  return [
    { text: `${seq}`.padStart(5), align: "right", style: "dim" },
    { text: timeText(time, nowMs) },
    { text: printable(actor).padEnd(7), style: "bold" },
    { text: printable(cause.type).padEnd(8) },
    { text: step.padEnd(8), style: "cyan" },
    { text: `${lead}${text}${reason}` },
  ];
}
