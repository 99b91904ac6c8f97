import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Settings } from "../../config/index.ts";
import type { StepRow } from "../../queries/answers/index.ts";
import { startStrictUpstream } from "../../testing/index.ts";
import { type RunningApp, startApp } from "../app/app.ts";
import { loginLink } from "../app/login-link.ts";
import { exitCodes } from "../exit-codes.ts";
import { contextLines } from "../format/context-picture.ts";
import { stripCells, stripPieces, stripText } from "../format/context-strip.ts";
import { percentText, pluralText, tokensText } from "../format/number-text.ts";
import { cutColumns, printable } from "../format/printable.ts";
import { textWidth } from "../format/text-width.ts";
import { scaleOf, windowText } from "../format/window-text.ts";
import { type ReadyCall, reportProblem } from "../verb-call.ts";
import { demoModel } from "./demo-model.ts";
import { story, storyAnswers } from "./demo-story.ts";
import { type DemoTurn, playDemo } from "./play-demo.ts";

const paceMs = 1_200;
const stripWidth = 40;

/** Plays a session without a key and without a network. Everything is real except the model. */
export async function demo(call: ReadyCall): Promise<number> {
  const { flags, screen, settings, version } = call;
  const pause = Number(flags.get("pace") ?? paceMs);
  const stopping = watchStopSignal();
  const dataDir = mkdtempSync(join(tmpdir(), "aperture-demo-"));
  const leaveNothing = (): void => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  // If the terminal is gone, the next line that is written ends the process at any point.
  process.once("exit", leaveNothing);
  const upstream = await startStrictUpstream({ model: demoModel, bodiesKept: 4 });
  try {
    const own = demoSettings(settings, { dataDir, url: new URL(upstream.url) });
    const app = await startOnFreePort(own, version);
    try {
      screen.out(openingText);
      screen.out(`panel  ${await loginLink(app)}&session=last`);
      screen.out(`verbs  aperture context ${reachOptions(app, own)}  (in another shell)`);
      screen.out(legend);
      const printTurn = turnPrinter(call);
      const latest: { turn: DemoTurn | null } = { turn: null };
      const pace = (): Promise<unknown> =>
        Promise.race([sleep(pause, null, { ref: false }), stopping.promise]);
      await playDemo({
        url: app.url,
        ask: app.engine.ask,
        pause: async () => void (await pace()),
        report: (turn) => {
          latest.turn = turn;
          printTurn(turn);
        },
        isOver: () => stopping.isOver(),
      });
      if (!stopping.isOver() && latest.turn !== null) screen.out(await closingText(app, latest.turn));
      if (!flags.has("once") && !stopping.isOver()) {
        screen.out("Look around, approve what waits, undo. Ctrl-C ends the demo and leaves nothing behind.");
        // The first link has expired by now: a link is valid for a minute.
        screen.out(`panel  ${await loginLink(app)}&session=last`);
        await stopping.promise;
      }
    } finally {
      await app.close();
    }
  } catch (error) {
    return reportProblem(call, {
      exit: exitCodes.failed,
      message: error instanceof Error ? error.message : String(error),
    });
  } finally {
    await upstream.close();
    leaveNothing();
  }
  return exitCodes.ok;
}

const openingText = `A scripted model does a day's work: ${story.length} prompts, ${storyAnswers} answers. No key, no network.`;

const legend = [
  "",
  "A line per answer: its number, the context window, the tokens in it, and what was changed.",
  "In the window: P primacy (system prompt, pins), M middle, R recency, C cold (archived), o other.",
  "A change first only plans what it frees. The next rewrite applies it, when that pays off.",
].join("\n");

/** The result of the day, counted as `leave` does: the client's own history is complete. */
async function closingText({ engine }: RunningApp, { session, state }: DemoTurn): Promise<string> {
  const whole = await engine.ask({ type: "transcript", session: session.id });
  const raw = whole.ok ? whole.value.rawTokens + state.otherTokens : 0;
  const { used } = state.window;
  const less = percentText({ part: raw - used, whole: raw });
  const saved = raw > used ? `, ${less} less than the client's own history (~${tokensText(raw)})` : "";
  return `\nThe day is over. The last prompt had ${tokensText(used)} tokens${saved}.`;
}

type DemoAddress = { readonly dataDir: string; readonly url: URL };

/** Uses nothing of the user's: not the data, not the upstreams, not a token. */
function demoSettings({ host, port, ...rest }: Settings, { dataDir, url }: DemoAddress): Settings {
  const { token: _, ...others } = rest;
  const upstreams = { anthropic: url, openai: url, gemini: url, bedrock: url, named: new Map() };
  return {
    ...others,
    host: "127.0.0.1",
    port: host === "127.0.0.1" ? port : 0,
    dataDir,
    upstreams,
    mode: "auto",
    isRemote: false,
  };
}

/** The options that make any verb reach the demo instead of the user's own Aperture. */
function reachOptions({ url }: RunningApp, { dataDir }: Settings): string {
  return `--data-dir ${dataDir} --port ${new URL(url).port}`;
}

/** Uses the configured port if it is free; the demo must not disturb a running Aperture. */
async function startOnFreePort(settings: Settings, version: string): Promise<RunningApp> {
  const start = (port: number): Promise<RunningApp> =>
    startApp({ settings: { ...settings, port }, version, notify: () => undefined });
  try {
    return await start(settings.port);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return await start(0);
    throw error;
  }
}

/** Prints the context after the first prompt, then a line for every answer. */
function turnPrinter({ screen }: ReadyCall): (demoTurn: DemoTurn) => void {
  let prompt = "";
  return (demoTurn) => {
    const { session, state, turn, steps, undone, waiting } = demoTurn;
    const { paint } = screen;
    if (demoTurn.prompt !== prompt) {
      if (prompt !== "" && turn <= (story[0]?.steps.length ?? 0) + 1)
        for (const line of contextLines({ name: session.name, state, paint })) screen.out(line);
      prompt = demoTurn.prompt;
      screen.out(`\n> ${printable(prompt, 100)}`);
    }
    const cells = stripCells(stripPieces(state), scaleOf(state.window), stripWidth);
    const acts = steps.filter(({ done }) => done).map((step) => actText(step, demoTurn));
    const back = undone === null ? [] : [`you undid: ${undone.said ?? ""}`];
    const asks = waiting === 0 ? [] : [`${pluralText(waiting, "command")} waiting for you`];
    // An undo is not an answer, so its line has no number.
    const number = undone === null ? `${turn}` : "";
    const head = `${number.padStart(3)} ${stripText(cells, paint)} ${windowText(state.window)}`;
    for (const line of fitNotes(head, [...acts, ...back, ...asks])) screen.out(line);
  };
}

/** Notes go behind the strip if they fit, else below it, so that the terminal breaks no line. */
function fitNotes(head: string, notes: readonly string[]): readonly string[] {
  if (notes.length === 0) return [head];
  const line = `${head}  ${notes.join("; ")}`;
  // Some terminals report a width of 0.
  const columns = process.stdout.columns || Number.POSITIVE_INFINITY;
  if (textWidth(line.replace(colours, "")) <= columns) return [line];
  return [head, ...notes.map((note) => `${" ".repeat(4)}${cutColumns(note, columns - 4)}`)];
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");

/** `Aperture trimmed "read src/auth/session.ts" (frees ~2.8k)`. */
function actText({ actor, said, frees, blocks }: StepRow, { state, labels }: DemoTurn): string {
  const who = { model: "Claude", user: "you", policy: "Aperture", client: "", sidecar: "" }[actor];
  const results = state.blocks.filter(({ n, kind }) => kind === "tool-result" && blocks.includes(n));
  const [only = "", ...others] = new Set(results.map(({ n }) => labels.get(n) ?? ""));
  const isOne = only !== "" && others.length === 0;
  const act = isOne ? (said ?? "").replace(/\d+ blocks|#\d+$/, `"${printable(only, 40)}"`) : said;
  const size = tokensText(Math.abs(frees));
  return `${who} ${act ?? ""}${frees === 0 ? "" : ` (${frees > 0 ? "frees" : "takes"} ~${size})`}`;
}

function watchStopSignal(): { readonly promise: Promise<void>; readonly isOver: () => boolean } {
  let isOver = false;
  const promise = new Promise<void>((done) => {
    const stop = (): void => {
      isOver = true;
      done();
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    // A closing terminal sends SIGHUP twice, itself and through its shell. The second must not cut the end
    // short.
    process.on("SIGHUP", stop);
  });
  return { promise, isOver: () => isOver };
}
