// The acts of policy, the cost of a rewrite, and undo.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { PricedRequests } from "../../src/control/index.ts";
import type {
  BlockDetail,
  ManifestAnswer,
  StateRow,
  StepRow,
  StepsPage,
} from "../../src/queries/answers/index.ts";
import type { ModelReply } from "../../src/testing/index.ts";
import { type ClientMessage, TestClient } from "../support/test-client.ts";
import { api, openRig, type Rig } from "./rig.ts";

const last = "/api/v1/sessions/last";
/** In every such turn the model calls no tool, and the user speaks again. */
const runTurns = 13;
const waiting = { timeout: 20_000, interval: 50 };

/** Results that are long enough to trim, with no two equal lines. */
class ReadingTalker extends TestClient {
  override next(text: string): ClientMessage {
    const message = super.next(text);
    const n = this.messages.length;
    const line = (at: number) => `const value${n}_${at} = compute${at}(${n * at}); // part ${at * 7 + n}`;
    const read = Array.from({ length: 160 }, (_, at) => line(at)).join("\n");
    const content = message.content.map((block) =>
      block.type === "tool_result" ? { ...block, content: read } : block,
    );
    return { ...message, content };
  }
}

function reader(): () => ModelReply {
  let n = 0;
  return () => {
    n += 1;
    if (n % runTurns === 0) return { content: [{ type: "text", text: `Read so far: ${n}.` }] };
    return { content: [{ type: "tool_use", name: "look", input: { n } }] };
  };
}

let rig: Rig;
let talker: ReadingTalker;
let turns = 0;

/** Plays a run of tool calls until all is recorded, so that the wishes of policy have reached the planner. */
async function runOf(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    turns += 1;
    expect((await talker.turn(rig.url, `go on ${turns}`)).status).toBe(200);
  }
  await vi.waitFor(async () => {
    const { rows } = (await api(rig, `${last}/requests?after=${turns - 1}`)) as PricedRequests;
    expect(rows.map(({ outcome }) => outcome)).toEqual(["complete"]);
  }, waiting);
}

/** Another model has nothing cached, so a rewrite is free. */
function switchModel(model: string): void {
  const other = new ReadingTalker({ session: talker.session, model });
  other.messages = talker.messages;
  talker = other;
}

const stateNow = async () => (await api(rig, `${last}/state`)) as StateRow;
const stepsNow = async () => ((await api(rig, `${last}/steps?limit=1000`)) as StepsPage).rows;
const shownAs = async (block: number) => (await stateNow()).blocks.find(({ n }) => n === block)?.shown;

beforeAll(async () => {
  rig = await openRig({ model: reader() });
  await rig.up();
  talker = new ReadingTalker({ bulk: 80_000 });
  await runOf(2 * runTurns);
  switchModel("claude-sonnet-5-5");
  await runOf(1);
}, 60_000);
afterAll(() => rig.close());

describe("an act of policy", () => {
  test("is in the log with its step and reason, without bookkeeping", async () => {
    const { out } = await rig.run(["log", "--limit", "60"]);
    expect(out).toMatch(/ policy +policy +step \d+ +trimmed #\d+ #\d+ \(not used for a while\)$/m);
    expect(out).toMatch(/ policy +policy +step \d+ +cut to the minimum #.* \(its turns are over\)$/m);
    expect(out).toMatch(/rewrote the request \(another model answers\)/);
    expect(out).not.toContain("stored a shorter text");
    expect((await rig.run(["log", "--all", "--limit", "60"])).out).toContain("stored a shorter text of #");
  });

  test("is listed by step, and --json prints the API's answer", async () => {
    const { out, err } = await rig.run(["log", "--steps", "--limit", "3"]);
    expect(out.trimEnd().split("\n")).toHaveLength(4);
    expect(out).toMatch(/^ *\d+ +[\d:]+ +yes +policy (?:trimmed|cut to the minimum) #\d+/m);
    expect(err).toContain("`aperture undo STEP` undoes one.");
    const { out: json } = await rig.run(["log", "--steps", "--limit", "3", "--json"]);
    expect(JSON.parse(json)).toEqual(await api(rig, `${last}/steps?limit=3`));
  });

  test("shows in the context as shortened and pending blocks", async () => {
    const { lowered, pending, blocks } = await stateNow();
    expect([lowered.blocks > 0, lowered.tokens > 1_000]).toEqual([true, true]);
    const trimmed = blocks.filter(({ shown }) => shown === "trimmed");
    const { out } = await rig.run(["context"]);
    expect(out).toMatch(/^ +shortened +\d+ blocks +~-[\d.]+k {2}left out: /m);
    expect(out).toContain(`trimmed #${trimmed[0]?.n}`);
    expect(/^ +pending /m.test(out)).toBe(pending.blocks > 0);
  });

  test("shows with its block: sizes, form and history", async () => {
    const lowered = (await stateNow()).blocks.find(({ shown }) => shown === "trimmed");
    const { code, out } = await rig.run(["show", `#${lowered?.n}`]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^shown +trimmed$/m)]);
    expect(out).toMatch(/^ +whole +~[\d.]+k?$/m);
    expect(out).toMatch(/^ +trimmed +~[\d.]+k? +shown/m);
    expect(out).toMatch(/ policy +trimmed \(not used for a while\)$/m);
    const detail = (await api(rig, `${last}/blocks/${lowered?.n}`)) as BlockDetail;
    expect(detail.levels.map(({ level }) => level)).toEqual(["original", "trimmed", "summarized", "minimal"]);
    const { out: json } = await rig.run(["show", `${lowered?.n}`, "--json"]);
    expect(JSON.parse(json)).toEqual(detail);
  });
});

describe("a rewrite", () => {
  test("shows its reason, the freed tokens, the expected cost and the real cost", async () => {
    const { rows } = (await api(rig, `${last}/requests?after=${turns - 1}`)) as PricedRequests;
    const rewrite = rows[0]?.rewrite;
    expect(rewrite).toMatchObject({ epoch: 1, reason: "model", why: "another model answers", means: "own" });
    expect([(rewrite?.freed ?? 0) > 1_000, (rewrite?.blocks.length ?? 0) > 1]).toEqual([true, true]);
    const usage = rows[0]?.usage;
    const written = (usage?.cacheWrite ?? 0) * 1.25 + (usage?.cacheRead ?? 0) * 0.1 + (usage?.input ?? 0);
    expect(rewrite?.measured?.tokens).toBeCloseTo(written, 0);
    expect(rewrite?.predicted?.rewritten.usd).toBeGreaterThan(0);
    const { out } = await rig.run(["request", `${turns}`]);
    expect(out).toMatch(/^rewrite +another model answers; epoch 1: #.* changed, ~[\d.]+k tokens freed$/m);
    expect(out).toMatch(/^expected +\$[\d.]+ for this prompt, \$[\d.]+ unchanged; each later one saves \$/m);
    expect(out).toMatch(/^measured +\$[\d.]+ for this prompt, /m);
    expect((await rig.run(["requests", "--limit", "2"])).out).toMatch(/ {2}rewrite\n.*\n.* model -[\d.]+k\n/);
  });

  test("has no column in sessions without one", async () => {
    const { out } = await rig.run(["requests", "--session", "last", "--limit", "1"]);
    expect(out).toContain("rewrite");
    expect((await api(rig, `${last}/requests?limit=3`)) as PricedRequests).toMatchObject({
      rows: [{ rewrite: null }, { rewrite: null }, { rewrite: null }],
    });
  });
});

describe("undo", () => {
  /** The newest step in effect whose block the last request sent as the step wants it. */
  async function shownStep(): Promise<StepRow> {
    const { blocks } = await stateNow();
    const isShown = (n: number) =>
      blocks.some((row) => row.n === n && row.shown === "trimmed" && !row.pending);
    const step = (await stepsNow()).findLast((row) => row.done && row.blocks.some(isShown));
    if (step === undefined) throw new Error("no step is visible in a request yet");
    return step;
  }

  test("is printed, reaches the planner, and shows in the next rewrite", async () => {
    const { step, blocks, did } = await shownStep();
    const before = await Promise.all(blocks.map(shownAs));
    const { code, out, err } = await rig.run(["undo", `${step}`]);
    expect([code, out]).toEqual([0, `undid step ${step}: policy ${did} (not used for a while)\n`]);
    expect(err).toMatch(/^#\d+ is sent as before until the next rewrite\.$/m);
    expect(err).toContain(`\`aperture redo ${step}\` redoes it.`);
    expect(await Promise.all(blocks.map(shownAs))).toEqual(before);
    expect((await rig.run(["log", "--limit", "1"])).out).toMatch(/ user +undo +step \d+ +undid: /);
    await runOf(runTurns - 1);
    switchModel("claude-opus-5-5");
    await runOf(1);
    expect(await Promise.all(blocks.map(shownAs))).toEqual(blocks.map(() => "original"));
    expect((await stepsNow()).find((row) => row.step === step)?.done).toBe(false);
    const again = await rig.run(["redo", "last", `${step}`, "--json"]);
    expect(JSON.parse(again.out)).toMatchObject({ verb: "redo", step: { step, done: true } });
  }, 60_000);

  test("names a conflicting frame and the way out", async () => {
    const steps = await stepsNow();
    const lowered = steps.findLast(({ did }) => did?.startsWith("cut to the minimum") === true);
    const older = steps.find(
      ({ step, blocks }) => step !== lowered?.step && blocks[0] === lowered?.blocks[0],
    );
    const { code, out, err } = await rig.run(["undo", `${older?.step}`]);
    expect([code, out]).toEqual([1, ""]);
    expect(err).toContain(`frame ${lowered?.seq} has changed the level of #`);
    expect(err).toContain("undo that step first");
  });

  test.each([
    [["undo", "99999"], 4, "There is no step 99999"],
    [["undo", "last", "x"], 2, '"x" is not a step'],
    [["undo", "nosuch"], 4, "There is no session nosuch"],
    [["undo", "last", "1", "--session", "last"], 2, "given twice"],
    [["redo"], 1, "nothing to redo"],
    [["log", "--steps", "--watch"], 2, "cannot be combined"],
    [["show", "x"], 2, "is not a block"],
    [["show", "4000000"], 4, "`aperture blocks` lists them"],
  ])("%j ends with %d", async (args, code, message) => {
    const ended = await rig.run(args);
    expect(ended).toMatchObject({ code, out: "" });
    expect(ended.err).toContain(message);
  });
});

test("the number of pending blocks is the same in state and manifest", async () => {
  await runOf(4);
  const { pending } = await stateNow();
  const { text } = (await api(rig, `${last}/manifest`)) as ManifestAnswer;
  expect(text).toContain(` ${pending.blocks} pending`);
  expect([pending.blocks > 0, pending.tokens > 0]).toEqual([true, true]);
});

test("an export contains every rendition", { timeout: 60_000 }, async () => {
  const { code, out } = await rig.run(["export", "last"]);
  expect(code).toBe(0);
  const lines = out.trimEnd().split("\n");
  const made = lines
    .map((line) => JSON.parse(line) as RenditionLine)
    .filter(({ type }) => type === "rendition");
  const { blocks } = await stateNow();
  const sizes = blocks.flatMap((row) => Object.keys(row.sizes).filter((level) => level !== "original"));
  expect(made.length).toBe(sizes.length);
  expect(made.length).toBeGreaterThan(0);
  for (const { content } of made) expect(content?.text.length).toBeGreaterThan(0);
  const wrong = (await api(rig, `${last}/blocks/${blocks[0]?.n}?level=tiny`)) as object;
  expect(wrong).toMatchObject({ error: { code: "AP_QUERY_INVALID" } });
});

type RenditionLine = { readonly type: string; readonly content: { readonly text: string } | null };
