// A block that the policy trimmed is sent with its first bytes again after an undo.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { staleTurns } from "../../src/engine/moment/index.ts";
import type { ReverseAnswer } from "../../src/execute/index.ts";
import type { StepRow, StepsPage } from "../../src/queries/answers/index.ts";
import { type ScriptedModel, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { manifestStart } from "../support/own-lines.ts";
import { type ClientMessage, promptOf, rejections, TestClient } from "../support/test-client.ts";
import { recordOf } from "./run-record.ts";
import { toolText } from "./run-texts.ts";

/** Longer than the cache lives. */
const idleMs = 7 * 60_000;
const result = toolText(5, 4_000);

class OneResultTalker extends TestClient {
  override next(text: string): ClientMessage {
    const { role, content } = super.next(text);
    return {
      role,
      content: content.map((block) => (block.type === "tool_result" ? { ...block, content: result } : block)),
    };
  }
}

/** One tool call, and texts from then on. */
function model(): ScriptedModel {
  let n = 0;
  return () => {
    n += 1;
    const thinking = { type: "thinking", thinking: `thought ${n}` } as const;
    const block =
      n === 1
        ? ({ type: "tool_use", name: "look", input: { n } } as const)
        : ({ type: "text", text: `answer ${n}` } as const);
    return { content: [thinking, block] };
  };
}

let upstream: StrictUpstream;
let app: TestApp;

beforeEach(async () => {
  // Fakes the clock, but no timers.
  vi.useFakeTimers({ toFake: ["Date"] });
  upstream = await startStrictUpstream({ model: model() });
  app = await startTestApp(upstream.url, { mode: "auto", deadlineMs: 20_000, limits: { planMs: 30_000 } });
});
afterEach(async () => {
  vi.useRealTimers();
  await app.remove();
  await upstream.close();
});

async function turns(talker: TestClient, count: number): Promise<readonly string[]> {
  for (let n = 0; n < count; n += 1) {
    const answer = await talker.turn(app.url, `question ${talker.messages.length}`);
    expect([answer.status, answer.isWhole]).toEqual([200, true]);
    await app.recorded();
  }
  return promptOf(upstream.exchanges.at(-1)?.body ?? Buffer.alloc(0));
}

/** The unit of the only tool result, as it was sent. */
function resultIn(prompt: readonly string[]): string {
  return prompt.find((unit) => unit.includes('"tool_result"')) ?? "";
}

/** Compares here, so that a failure does not print two long texts. */
const isSame = (one: string, other: string): boolean => one === other && one.includes(JSON.stringify(result));

async function stepsDone(): Promise<number> {
  return jsonIn<StepsPage>(await app.api("/sessions/last/steps")).total;
}

/** Undoes the last step and returns it. */
async function undoLast(): Promise<StepRow> {
  const headers = { authorization: `Bearer ${app.token}`, "content-type": "application/json" };
  const undone = await ask(`${app.url}/api/v1/sessions/last/undo`, { headers, body: "{}" });
  expect(undone.status).toBe(200);
  return jsonIn<ReverseAnswer>(undone).step;
}

const passTime = (): void => void vi.setSystemTime(Date.now() + idleMs);

it.each(["claude-opus-5-5", "claude-opus-4-6"])(
  "an undone block is sent with its first bytes: %s",
  async (name) => {
    const talker = new OneResultTalker({ model: name });
    await turns(talker, 1);
    const first = await turns(talker, 1);
    expect(isSame(resultIn(first), resultIn(first))).toBe(true);
    const before = await turns(talker, staleTurns);
    expect(isSame(resultIn(before), resultIn(first))).toBe(true);
    await expect.poll(stepsDone, { timeout: 10_000 }).toBe(1);
    // The planner gets the wishes right after the step is recorded.
    await app.recorded();
    passTime();
    const short = await turns(talker, 1);
    expect(resultIn(short).length).toBeLessThan(resultIn(first).length / 2);
    expect(await undoLast()).toMatchObject({ actor: "policy", reason: "not used for a while", done: false });
    passTime();
    const again = await turns(talker, 1);
    expect(isSame(resultIn(again), resultIn(first))).toBe(true);
    // All other units are unchanged too, except for reasoning and for the manifest, which belongs to one
    // request.
    const lasting = before.filter((unit) => !/"type":"thinking"/.test(unit) && !manifestStart.test(unit));
    expect(lasting.filter((unit, at) => at > 0 && !again.includes(unit))).toEqual([]);
    expect((await recordOf(app)).rewrites.map(({ reason }) => reason)).toEqual(["cold", "cold"]);
    expect(rejections(upstream.exchanges)).toEqual([]);
  },
);
