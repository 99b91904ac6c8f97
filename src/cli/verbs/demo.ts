import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Settings } from "../../config/index.ts";
import { startStrictUpstream } from "../../testing/index.ts";
import { type RunningApp, startApp } from "../app.ts";
import { giveUp, type ReadyCall } from "../call.ts";
import { demoModel } from "../demo/model.ts";
import { playDemo, type Told } from "../demo/play.ts";
import { story, storyTurns } from "../demo/story.ts";
import { columnsOf } from "../format/columns.ts";
import { contextLines } from "../format/context.ts";
import { manyText, percentText, tokensText } from "../format/numbers.ts";
import { cutColumns, printable } from "../format/printable.ts";
import { piecesOf, stripCells, stripText } from "../format/strip.ts";
import { scaleOf, windowText } from "../format/window.ts";
import { loginLink } from "../login-link.ts";
import { exitCodes } from "../usage.ts";

const paceMs = 1_200;
const stripWidth = 40;

/** A session to look at, without a key and without a network: everything is real but the model. */
export async function demo(call: ReadyCall): Promise<number> {
  const { flags, screen, settings, version } = call;
  const pause = Number(flags.get("pace") ?? paceMs);
  const stopping = stopSignal();
  const dataDir = mkdtempSync(join(tmpdir(), "aperture-demo-"));
  const leaveNothing = (): void => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 });
  // A terminal that is gone ends the process at the next line it is told, wherever we are then.
  process.once("exit", leaveNothing);
  const upstream = await startStrictUpstream({ model: demoModel, bodiesKept: 4 });
  try {
    const own = demoSettings(settings, { dataDir, url: new URL(upstream.url) });
    const app = await startSomewhere(own, version);
    try {
      screen.out(
        `A day's work in ${story.length} prompts and ${storyTurns} requests, by a scripted model: no key, no network.`,
      );
      screen.out(`panel  ${await loginLink(app)}&session=last`);
      screen.out(`verbs  aperture context ${wayTo(app, own)}, in another shell`);
      const tell = teller(call);
      const latest: { told: Told | null } = { told: null };
      const pace = (): Promise<unknown> =>
        Promise.race([sleep(pause, null, { ref: false }), stopping.promise]);
      await playDemo({
        url: app.url,
        ask: app.engine.ask,
        pause: async () => void (await pace()),
        tell: (told) => {
          latest.told = told;
          tell(told);
        },
        isOver: () => stopping.isOver(),
      });
      if (!stopping.isOver() && latest.told !== null) screen.out(await closing(app, latest.told));
      if (!flags.has("once") && !stopping.isOver()) {
        screen.out("Look around, approve what waits, undo; Ctrl-C ends it and leaves nothing behind.");
        // A link logs one browser in, for a minute: by now the first is over.
        screen.out(`panel  ${await loginLink(app)}&session=last`);
        await stopping.promise;
      }
    } finally {
      await app.close();
    }
  } catch (error) {
    return giveUp(call, {
      exit: exitCodes.failed,
      message: error instanceof Error ? error.message : String(error),
    });
  } finally {
    await upstream.close();
    leaveNothing();
  }
  return exitCodes.ok;
}

/** What the day came to, by the same count that `leave` goes by: the client's own history is whole. */
async function closing({ engine }: RunningApp, { session, state }: Told): Promise<string> {
  const whole = await engine.ask({ type: "transcript", session: session.id });
  const raw = whole.ok ? whole.value.rawTokens + state.otherTokens : 0;
  const { used } = state.window;
  const less = percentText({ part: raw - used, whole: raw });
  const more = raw > used ? `, where its client's own history is ~${tokensText(raw)}: ${less} less` : "";
  return `\nThat was the day. The last prompt was ${tokensText(used)}${more}.`;
}

type Place = { readonly dataDir: string; readonly url: URL };

/** Nothing of the user's: not the data, not the upstreams, not a token. */
function demoSettings({ host, port, ...rest }: Settings, { dataDir, url }: Place): Settings {
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

/** The options with which every verb reaches the demo, rather than the user's own Aperture. */
function wayTo({ url }: RunningApp, { dataDir }: Settings): string {
  return `--data-dir ${dataDir} --port ${new URL(url).port}`;
}

/** On the usual port if it is free: the demo must not stand in the way of what runs. */
async function startSomewhere(settings: Settings, version: string): Promise<RunningApp> {
  const start = (port: number): Promise<RunningApp> =>
    startApp({ settings: { ...settings, port }, version, note: () => undefined });
  try {
    return await start(settings.port);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") return await start(0);
    throw error;
  }
}

/** A picture after the first prompt, then a line for every answer in which something was done. */
function teller({ screen }: ReadyCall): (told: Told) => void {
  let prompt = "";
  return (told) => {
    const { session, state, turn, steps, undone, waiting } = told;
    const { paint } = screen;
    if (told.prompt !== prompt) {
      if (prompt !== "" && turn <= (story[0]?.steps.length ?? 0) + 1)
        for (const line of contextLines({ name: session.name, state, paint })) screen.out(line);
      prompt = told.prompt;
      screen.out(`\n> ${printable(prompt, 100)}`);
    }
    const cells = stripCells(piecesOf(state), scaleOf(state.window), stripWidth);
    const acts = steps
      .filter(({ done }) => done)
      .map(({ actor, said, frees }) => actText(actor, said ?? "", frees));
    const back = undone === null ? [] : [`you took back: ${undone.said ?? ""}`];
    const asks = waiting === 0 ? [] : [`${manyText(waiting, "command")} waiting for you`];
    const head = `${`${turn}`.padStart(3)} ${stripText(cells, paint)} ${windowText(state.window)}`;
    for (const line of withNotes(head, [...acts, ...back, ...asks])) screen.out(line);
  };
}

/** Behind the picture where there is room, else each below it: no line is to be broken by the terminal. */
function withNotes(head: string, notes: readonly string[]): readonly string[] {
  if (notes.length === 0) return [head];
  const line = `${head}  ${notes.join("; ")}`;
  // Some terminals say that they are 0 wide: they do not know.
  const columns = process.stdout.columns || Number.POSITIVE_INFINITY;
  if (columnsOf(line.replace(colours, "")) <= columns) return [line];
  return [head, ...notes.map((note) => `${" ".repeat(4)}${cutColumns(note, columns - 4)}`)];
}

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d+m`, "g");

function actText(actor: string, said: string, frees: number): string {
  const who = { model: "Claude", user: "you", policy: "Aperture" }[actor] ?? actor;
  const tokens = frees === 0 ? "" : ` (${frees > 0 ? "-" : "+"}${tokensText(Math.abs(frees))})`;
  return `${who} ${said}${tokens}`;
}

function stopSignal(): { readonly promise: Promise<void>; readonly isOver: () => boolean } {
  let isOver = false;
  const promise = new Promise<void>((done) => {
    const stop = (): void => {
      isOver = true;
      done();
    };
    process.once("SIGINT", stop);
    process.once("SIGTERM", stop);
    // A terminal that closes says so twice, itself and by its shell: the second must not cut the end short.
    process.on("SIGHUP", stop);
  });
  return { promise, isOver: () => isOver };
}
