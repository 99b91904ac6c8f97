import type { PricedDetail, Returned } from "../../control/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { printableLines } from "../format/printable.ts";
import { replayLines } from "../format/replay.ts";
import { requestLines } from "../format/request.ts";
import { diffLines } from "../format/request-diff.ts";
import { aligned } from "../format/table.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

const sides = ["client", "upstream", "response"] as const;
const looks = ["diff", "previous", "replay"] as const;
type Side = (typeof sides)[number];
type Asked = {
  readonly exchange: string;
  readonly side: Side | null;
  /** What it is compared with, or that it is replayed; null: neither. */
  readonly look: (typeof looks)[number] | null;
};

export async function request(call: ReadyCall): Promise<number> {
  const asked = askedFor(call);
  if (!asked.ok) return giveUp(call, asked.problem);
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const { exchange, side, look } = asked.value;
  const path = sessionPath(found.value.session.id, `/requests/${exchange}`);
  if (look === "replay") return await replay(call, `${path}/replay`);
  if (look !== null) return await diff(call, `${path}/diff${look === "previous" ? "?with=previous" : ""}`);
  return side === null ? await summary(call, path) : await body(call, `${path}/${side}`);
}

function askedFor(call: ReadyCall): Outcome<Asked> {
  const [exchange = ""] = call.operands;
  if (!/^\d{1,15}$/.test(exchange)) {
    return stop(
      exitCodes.usage,
      `A request has a number, as \`aperture requests\` shows; not "${exchange}".`,
    );
  }
  const [side = null, second] = [...sides, ...looks].filter((each) => call.flags.has(each));
  if (second !== undefined) return stop(exitCodes.usage, `Choose one of --${side} and --${second}.`);
  if (side === "diff" || side === "previous" || side === "replay") {
    return succeed({ exchange, side: null, look: side });
  }
  if (side !== null && wantsJson(call)) {
    return stop(exitCodes.usage, `--${side} prints the bytes as they are; leave --json out.`);
  }
  return succeed({ exchange, side, look: null });
}

async function diff(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<Returned["RequestDiff"]>(path);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  for (const line of diffLines(reply.value.value, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/** A long conversation takes a while to be read, and others may have asked before. */
const replayMs = 600_000;

async function replay(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<Returned["ReplayAnswer"]>(path, replayMs);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) printJson(call, reply.value.text);
  else for (const line of replayLines(reply.value.value, call.screen.paint)) call.screen.out(line);
  return reply.value.value.verdict.accepted ? exitCodes.ok : exitCodes.failed;
}

async function summary(call: ReadyCall, path: string): Promise<number> {
  const reply = await call.api.json<PricedDetail>(path);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const lines = requestLines(reply.value.value, call.world.nowMs());
  const cells = lines.map(([label, text]) => [{ text: label, style: "dim" as const }, { text }]);
  for (const line of aligned(cells, call.screen.paint)) call.screen.out(line);
  return exitCodes.ok;
}

/** Exact for programs. A terminal obeys some bytes, and these were not written by its user: there they go. */
async function body(call: ReadyCall, path: string): Promise<number> {
  const { api, screen } = call;
  const bytes = await api.bytes(path);
  if (!bytes.ok) return giveUp(call, bytes.problem);
  if (!screen.isTerminal) {
    screen.bytes(bytes.value);
    return exitCodes.ok;
  }
  screen.out(printableLines(bytes.value.toString("utf8")));
  if (!isQuiet(call)) screen.err("(without control characters; into a file or a pipe the bytes are exact)");
  return exitCodes.ok;
}
