import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { StateRow, TranscriptAnswer } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { countedText, manyText, sizeText } from "../format/numbers.ts";
import { wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { claudeTranscript } from "../transcript/claude.ts";
import { codexTranscript } from "../transcript/codex.ts";
import type { TranscriptFile, WriteTranscript } from "../transcript/file.ts";
import { piTranscript } from "../transcript/pi.ts";
import { exitCodes } from "../usage.ts";

const writers = { claude: claudeTranscript, codex: codexTranscript, pi: piTranscript } as const;
type ClientName = keyof typeof writers;
const clientNames = Object.keys(writers) as readonly ClientName[];

/** Goes on elsewhere from a seq: what the model had before it then, in the form of a client. */
export async function fork(call: ReadyCall): Promise<number> {
  return await writeFor(call, null);
}

/** Goes on without Aperture: the same for the present, for the client the session came from. */
export async function leave(call: ReadyCall): Promise<number> {
  return await writeFor(call, { "claude-code": "claude", codex: "codex", pi: "pi" });
}

type Defaults = Readonly<Record<string, ClientName>>;

async function writeFor(call: ReadyCall, defaults: Defaults | null): Promise<number> {
  const { api, flags, operands } = call;
  const found = await findSession(api, sessionWord(call, operands[0]));
  if (!found.ok) return giveUp(call, found.problem);
  const { id, client } = found.value.session;
  const chosen = writerFor(flags.get("to") ?? defaults?.[client], client);
  if (!chosen.ok) return giveUp(call, chosen.problem);
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<TranscriptAnswer>(sessionPath(id, "/transcript", query));
  if (!reply.ok) return giveUp(call, reply.problem);
  const transcript = reply.value.value;
  if (transcript.rows.length === 0) return giveUp(call, nothingYet(id));
  const written = writeFile(call, transcript, chosen.value);
  if (!written.ok) return giveUp(call, written.problem);
  if (wantsJson(call)) {
    const { rows, ...rest } = transcript;
    call.screen.out(JSON.stringify({ v: 1, ...rest, messages: rows.length, ...written.value }));
    return exitCodes.ok;
  }
  tell(call, transcript, written.value);
  if (defaults !== null) await warnIfFull(call, transcript);
  return exitCodes.ok;
}

function writerFor(name: string | undefined, client: string): Outcome<WriteTranscript> {
  const known = clientNames.find((each) => each === name);
  if (known !== undefined) return succeed(writers[known]);
  const choices = clientNames.join(", ");
  const problem =
    name === undefined
      ? `The session came from ${client}: say with --to which client goes on with it: ${choices}.`
      : `No transcript can be written for ${name}. Known are ${choices}.`;
  return stop(exitCodes.usage, problem);
}

function nothingYet(session: string) {
  const message = `Session ${session} has no message yet at this seq: there is nothing to go on with.`;
  return { exit: exitCodes.missing, message };
}

type Written = Omit<TranscriptFile, "text"> & { readonly cwd: string };

/** A new file in any case: what stands at a path is somebody's. */
function writeFile(
  { flags, world }: ReadyCall,
  transcript: TranscriptAnswer,
  write: WriteTranscript,
): Outcome<Written> {
  const cwd = resolve(world.cwd, flags.get("dir") ?? ".");
  const { env, home } = world;
  const going = { id: randomUUID(), timeMs: world.nowMs(), cwd, home, env };
  const { path: usual, text, resume } = write(transcript, going);
  const out = flags.get("out");
  const path = out === undefined ? usual : resolve(world.cwd, out);
  if (existsSync(path)) return stop(exitCodes.failed, `${path} is there already; nothing was written.`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return stop(exitCodes.failed, `The transcript could not be written: ${problem}`);
  }
  return succeed({ path, resume, cwd });
}

function tell(call: ReadyCall, transcript: TranscriptAnswer, { path, resume, cwd }: Written): void {
  const { screen, flags } = call;
  const { rows, tokens, seq, left } = transcript;
  screen.out(path);
  if (isQuiet(call)) return;
  const size = `${manyText(rows.length, "message")}, ${countedText(tokens, false)} tokens`;
  screen.err(`${size}, as of seq ${seq}; ${manyText(left.reasoning, "reasoning block")} left out.`);
  if (left.pruned > 0) screen.err(`${manyText(left.pruned, "block")} shown as one line each.`);
  if (flags.get("out") === undefined) screen.err(`Go on with: cd ${cwd} && ${resume}`);
}

/** The client's own history is whole: it may be more than its window takes. */
async function warnIfFull({ api, flags, screen }: ReadyCall, transcript: TranscriptAnswer): Promise<void> {
  const { session, rawTokens } = transcript;
  const path = sessionPath(session, "/state", { stream: flags.get("stream") });
  const state = await api.json<StateRow>(path);
  if (!state.ok) return;
  const { window, otherTokens } = state.value.value;
  const raw = rawTokens + otherTokens;
  if (window.size === null || raw < window.size * fullShare) return;
  const sizes = `${countedText(raw, false)} of ${sizeText(window.size)}`;
  screen.err(
    `The client's own history of this session takes ${sizes}: without Aperture, go on with this file.`,
  );
}

const fullShare = 0.85;
