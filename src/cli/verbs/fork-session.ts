import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { StateRow, TranscriptAnswer } from "../../queries/answers/index.ts";
import { type TranscriptFormat, transcriptFormats } from "../../transcripts/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { countedText, pluralText, sizeText } from "../format/number-text.ts";
import { wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { type TranscriptFile, transcriptFile } from "../transcript-file.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

type ForkClient = keyof typeof transcriptFormats;
const clientNames = Object.keys(transcriptFormats) as readonly ForkClient[];

/** Writes the context as of a seq in the format of a client, which can continue from there. */
export async function fork(call: ReadyCall): Promise<number> {
  return await writeFor(call, { isLeaving: false });
}

/** Writes the present context for the client of the session, which can continue without Aperture. */
export async function leave(call: ReadyCall): Promise<number> {
  return await writeFor(call, { isLeaving: true });
}

/** The client that continues a session, unless the user names another. */
const defaultClients: Readonly<Record<string, ForkClient>> = {
  "claude-code": "claude",
  codex: "codex",
  pi: "pi",
};

async function writeFor(call: ReadyCall, { isLeaving }: { readonly isLeaving: boolean }): Promise<number> {
  const { api, flags, operands } = call;
  const found = await findSession(api, sessionArgument(call, operands[0]));
  if (!found.ok) return reportProblem(call, found.problem);
  const { id, client } = found.value.session;
  const chosen = formatFor(flags.get("to") ?? defaultClients[client], client);
  if (!chosen.ok) return reportProblem(call, chosen.problem);
  const query = { at: flags.get("at"), stream: flags.get("stream") };
  const reply = await api.json<TranscriptAnswer>(sessionPath(id, "/transcript", query));
  if (!reply.ok) return reportProblem(call, reply.problem);
  const transcript = reply.value.value;
  if (transcript.rows.length === 0) return reportProblem(call, noMessageProblem(id));
  const written = writeFile(call, transcript, chosen.value);
  if (!written.ok) return reportProblem(call, written.problem);
  if (wantsJson(call)) {
    const { rows, ...rest } = transcript;
    call.screen.out(JSON.stringify({ v: 1, ...rest, messages: rows.length, ...written.value }));
    return exitCodes.ok;
  }
  printFork(call, transcript, written.value);
  if (isLeaving) await warnIfFull(call, transcript);
  return exitCodes.ok;
}

function formatFor(name: string | undefined, client: string): CliResult<TranscriptFormat> {
  const known = clientNames.find((each) => each === name);
  if (known !== undefined) return succeed(transcriptFormats[known]);
  const choices = clientNames.join(", ");
  return stop(
    exitCodes.usage,
    `The client of this session is ${client}. Choose the client that continues with --to: ${choices}.`,
  );
}

function noMessageProblem(session: string) {
  const message = `Session ${session} has no message yet at this seq: there is nothing to continue.`;
  return { exit: exitCodes.missing, message };
}

type ForkResult = Omit<TranscriptFile, "text"> & { readonly cwd: string };

/** Always a new file: an existing file is never replaced. */
function writeFile(
  { flags, system }: ReadyCall,
  transcript: TranscriptAnswer,
  format: TranscriptFormat,
): CliResult<ForkResult> {
  const cwd = resolve(system.cwd, flags.get("dir") ?? ".");
  const { env, home } = system;
  const target = { id: randomUUID(), timeMs: system.nowMs(), cwd, home, env };
  const { path: usual, text, resume } = transcriptFile(format, transcript, target);
  const out = flags.get("out");
  const path = out === undefined ? usual : resolve(system.cwd, out);
  if (existsSync(path)) return stop(exitCodes.failed, `${path} already exists; nothing was written.`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return stop(exitCodes.failed, `The transcript could not be written: ${problem}`);
  }
  return succeed({ path, resume, cwd });
}

function printFork(call: ReadyCall, transcript: TranscriptAnswer, { path, resume, cwd }: ForkResult): void {
  const { screen, flags } = call;
  const { rows, tokens, seq, left } = transcript;
  screen.out(path);
  if (isQuiet(call)) return;
  const size = `${pluralText(rows.length, "message")}, ${countedText(tokens, false)} tokens`;
  screen.err(`${size}, as of seq ${seq}; ${pluralText(left.reasoning, "reasoning block")} left out.`);
  if (left.pruned > 0) screen.err(`${pluralText(left.pruned, "pruned block")} as one line each.`);
  if (flags.get("out") === undefined) screen.err(`Continue with: cd ${cwd} && ${resume}`);
}

/** The client's own history is complete, and may be larger than the model's window. */
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
    `The client's own history of this session takes ${sizes}. Without Aperture, continue with this file.`,
  );
}

const fullShare = 0.85;
