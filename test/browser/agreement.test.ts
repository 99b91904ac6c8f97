// Panel, CLI and API show the same used and free tokens at every seq.
import { beforeAll, expect, test } from "vitest";
import { countedText, sizeText } from "../../panel/src/base/format.ts";
import { must, seededRandom } from "../../src/base/index.ts";
import { readArguments } from "../../src/cli/args/arguments.ts";
import { dispatch } from "../../src/cli/dispatch.ts";
import { plain } from "../../src/cli/format/paint.ts";
import { loadSettings } from "../../src/cli/load-settings.ts";
import { isLong } from "../support/runs.ts";
import { setUpPanel } from "./panel-setup.ts";
import { createSampleSession } from "./sample-session.ts";

const setup = setUpPanel();
const random = seededRandom(8);
/** A thousand with `--long`. Most calls of the CLI run in this process, a few as a program. */
const checkpoints = isLong ? 1_000 : 150;
const programs = isLong ? 20 : 4;

type Figures = { readonly seq: number; readonly used: number; readonly free: number | null };
type State = {
  readonly seq: number;
  readonly head: number;
  readonly window: {
    readonly used: number;
    readonly free: number | null;
    readonly size: number | null;
    readonly exact: boolean;
  };
  readonly blocks: readonly { readonly n: number }[];
};
const figuresOf = ({ seq, window: { used, free } }: State): Figures => ({ seq, used, free });

let session = "";
let head = 0;

beforeAll(async () => {
  ({ session } = await createSampleSession(setup()));
  await runRandomCommands(isLong ? 300 : 80);
  ({ head } = await setup().api<State>(`/sessions/${session}/state`));
}, 600_000);

/** Runs random commands of the user. Refused ones change nothing. */
async function runRandomCommands(times: number): Promise<void> {
  const { blocks } = await setup().api<State>(`/sessions/${session}/state`);
  const block = (): number => random.pick(blocks).n;
  const commands = [
    () => ({ verb: "pin", target: `${block()}` }),
    () => ({ verb: "unpin", target: `${block()}` }),
    () => ({ verb: "compress", target: `${block()}`, level: "trimmed" }),
    () => ({ verb: "compress", target: `${block()}`, level: "minimal" }),
    () => ({ verb: "archive", target: `${block()}`, reason: "at random" }),
    () => ({ verb: "restore", target: `${block()}` }),
    () => ({ verb: "create", text: `A memory about ${block()} and ${block()}.` }),
  ];
  for (let done = 0; done < times; done += 1) {
    const command = random.pick(commands)();
    await setup()
      .api(`/sessions/${session}/ops`, { method: "POST", body: { command } })
      .catch(() => null);
  }
}

test(`panel, command line and API agree at ${checkpoints} random seqs`, { timeout: 600_000 }, async () => {
  const seqs = Array.from({ length: checkpoints }, () => 1 + random.below(head));
  const panel = await setup().open();
  await panel.go(`/s/${session}`);
  for (let from = 0; from < seqs.length; from += 50) {
    const some = seqs.slice(from, from + 50);
    const shown = await panel.page.evaluate(readAt, { session, seqs: some });
    await Promise.all(some.map((seq, at) => compare(seq, must(shown[at], "one for each"))));
  }
  await panel.close();
  const spread = new Set(seqs).size;
  console.log(`${checkpoints} checkpoints at ${spread} of ${head} seqs: panel, command line and API agree`);
});

async function compare(seq: number, shown: ShownState): Promise<void> {
  const state = await setup().api<State>(`/sessions/${session}/state?at=${seq}`);
  const { used, free, size, exact } = state.window;
  // Before the first request the model and its window are unknown.
  expect([state.seq, size === null ? free : used + (free ?? 0)]).toEqual([seq, size]);
  expect(shown.figures).toEqual(figuresOf(state));
  expect(shown.text).toContain(`${countedText(used, exact)} / ${size === null ? "?" : sizeText(size)}`);
  if (free !== null) expect(shown.text).toContain(`free ${countedText(free, exact)}`);
  expect(figuresOf(await printed(seq))).toEqual(figuresOf(state));
}

test("the CLI program prints the same as its function", async () => {
  for (let n = 0; n < programs; n += 1) {
    const seq = 1 + random.below(head);
    const { out } = await setup().cli.run(["context", session, "--at", `${seq}`, "--json"]);
    expect(figuresOf(JSON.parse(out) as State)).toEqual(figuresOf(await printed(seq)));
  }
}, 60_000);

/** `aperture context --at SEQ --json`, in this process. */
async function printed(seq: number): Promise<State> {
  const { env, home, folder } = setup().cli;
  const lines: string[] = [];
  const called = readArguments(["context", session, "--at", `${seq}`, "--json"]);
  if (called.verb !== "context") throw new Error("these arguments are understood");
  const code = await dispatch(called.verb, {
    ...called,
    version: "0.0.0-test",
    screen: {
      out: (line) => lines.push(line),
      err: (line) => lines.push(line),
      bytes: () => undefined,
      paint: plain,
      isTerminal: false,
      mayPrompt: false,
    },
    system: { env, home, cwd: folder, nowMs: () => Date.now() },
    settingsResult: loadSettings({ env, home }),
  });
  expect([code, code === 0 ? "" : lines.join("\n")]).toEqual([0, ""]);
  // Our own command line wrote it.
  return JSON.parse(lines.join("\n")) as State;
}

type ReadInput = { readonly session: string; readonly seqs: readonly number[] };
type ShownState = { readonly figures: Figures; readonly text: string };

/** Runs in the page: navigates from seq to seq and reads the window numbers of each. */
async function readAt({ session: id, seqs }: ReadInput): Promise<readonly ShownState[]> {
  const states: ShownState[] = [];
  for (const seq of seqs) {
    history.pushState(null, "", `/s/${id}?at=${seq}`);
    dispatchEvent(new PopStateEvent("popstate"));
    const untilMs = Date.now() + 10_000;
    let shown = document.querySelector<HTMLElement>(`.window-head[data-seq="${seq}"]`);
    while (shown === null) {
      if (Date.now() > untilMs) throw new Error(`seq ${seq} was never shown`);
      await new Promise((next) => requestAnimationFrame(next));
      shown = document.querySelector<HTMLElement>(`.window-head[data-seq="${seq}"]`);
    }
    const [used, free] = [...shown.querySelectorAll("data")].map(({ value }) => Number(value));
    const figures = { seq: Number(shown.dataset["seq"]), used: used ?? -1, free: free ?? null };
    states.push({ figures, text: shown.innerText });
  }
  return states;
}
