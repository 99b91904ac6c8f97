import { pricesOf } from "../../src/config/index.ts";
import { defaultAwareness, SessionPlanner } from "../../src/host/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { median } from "../measure.ts";
import { type BenchOptions, type Cell, countText } from "../report.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;

type Message = { readonly role: string; readonly content: unknown };

/** The time the planner takes for a turn must not depend on the number of earlier turns. */
export async function* flatCells({ quick }: BenchOptions): AsyncGenerator<Cell> {
  const [rounds, few, many] = quick ? [1, 10, 100] : [11, 100, 1_000];
  const ratios: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const fewMs = await turnMs(few);
    const manyMs = await turnMs(many);
    if (round >= 0) ratios.push(manyMs / fewMs);
  }
  yield {
    name: `planning a turn, ${countText(many)} messages / ${countText(few)} messages`,
    figure: median(ratios),
    boundMax: 1.5,
    unit: "x",
    note: "messages of 100 bytes, so that it is the count that differs",
  };
}

const turns = 60;

/** The median time of a turn after a history of `count` messages. */
async function turnMs(count: number): Promise<number> {
  const planner = new SessionPlanner({
    clock: { now: () => 1_000 },
    mode: () => "auto",
    nonceOf: () => "k7f3",
    newSessionName: () => "flat",
    lookUpStream: () => Promise.resolve(null),
    isRecording: () => true,
    recordVersionOf: () => 0,
    isBehind: () => false,
    managesLogins: () => false,
    hasManaged: () => true,
    noteManaged: () => undefined,
    runCommands: () => Promise.resolve([]),
    awareness: () => defaultAwareness,
    windowOf: () => 200_000,
    pricesOf,
    arrivalPolicy: () => ({ arrival: "lossless" }),
  });
  let messages: Message[] = [{ role: "user", content: "Begin." }];
  const times: number[] = [];
  while (messages.length < count + turns * 2) {
    const body = Buffer.from(JSON.stringify({ model: "claude-opus-4-8", messages, max_tokens: 9 }));
    const startedMs = performance.now();
    const planning = planner.plan(metaFor(messages.length), [body]);
    if (messages.length > count) times.push(performance.now() - startedMs);
    // Only the first request of a session has to ask the log for its numbers.
    if (planning instanceof Promise && messages.length > 1) throw new Error("a turn is answered at once");
    const planned = await planning;
    const content = [{ type: "text", text: `Answer ${messages.length} ${"y".repeat(60)}` }];
    const message = Buffer.from(JSON.stringify({ role: "assistant", content }));
    const answer = readAnswer(message, "application/json");
    planner.finish(planned, { status: 200, answer, isComplete: true, isRequestFlushed: true });
    const next = { role: "user", content: `Prompt ${messages.length} ${"x".repeat(60)}` };
    messages = [...messages, { role: "assistant", content }, next];
  }
  return median(times);
}

function metaFor(n: number) {
  return {
    id: `${n}`,
    protocol: "anthropic",
    upstream: "anthropic",
    method: "POST",
    target: "/v1/messages",
    headers: { "x-aperture-session": "flat" },
    caller: { owner: "local", credential: "bench", secrets: [] },
    startedMs: 0,
    length: null,
    isLogin: false,
  } as const;
}
