// A program with an SDK sends the same request many times at once, and continues each answer separately.
import { beforeAll, expect, test } from "vitest";
import type { ReplyBlock, ScriptedModel } from "../../src/testing/index.ts";
import { startChild } from "../support/child.ts";
import { isLong } from "../support/runs.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { breaksIn, holdsOurs, isManaged, leaksIn, refusedIn } from "./managed-bodies.ts";
import { type ManagedRig, type Pair, pairsOf, startManagedRig } from "./managed-rig.ts";

const twins = isLong ? 50 : 20;
const turns = 3;
/** Enough tokens to make a session without a name worth managing. */
const large = "q7 x9 z4 w2".repeat(6_000);

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

/** Each answer has its own bound reasoning; all requests of a turn are open at once. */
function modelOf(answerText: (n: number) => string): ScriptedModel {
  let count = 0;
  let open: (() => void)[] = [];
  const untilAllAreOpen = (): Promise<void> =>
    new Promise((resolve) => {
      open.push(resolve);
      if (open.length < twins) return;
      for (const answer of open) answer();
      open = [];
    });
  return async ({ messages }) => {
    count += 1;
    const thought: ReplyBlock = { type: "thinking", thinking: `thought ${count}.` };
    const answer = { type: "text", text: answerText(count) } as const;
    const call = { type: "tool_use", name: "add", input: { a: 1, b: 2 } } as const;
    await untilAllAreOpen();
    const isSecond = messages.filter(({ role }) => role === "assistant").length === 1;
    return { content: isSecond ? [thought, call] : [thought, answer] };
  };
}

type TwinsResult = { readonly code: number | null; readonly transcripts: readonly string[] };

async function runTwins(
  { url }: ManagedRig,
  headers: Readonly<Record<string, string>>,
): Promise<TwinsResult> {
  const plan = { url, headers, twins, turns, prompt: `This is asked of all.\n${large}` };
  const module = clients.moduleUrl("@anthropic-ai/sdk");
  const child = startChild("test/clients/managed-twins-child.mjs", [module, JSON.stringify(plan)]);
  const { code, stderr } = await child.ended;
  expect(stderr).toBe("");
  return { code, transcripts: child.lines };
}

/** The model's thoughts in a history, in order. */
function thoughtsIn(text: string): readonly string[] {
  return text.match(/thought \d+\./g) ?? [];
}

/** The requests of one twin after the first, which is the same for all twins. */
function requestsOf(transcript: string, pairs: readonly Pair[]): readonly Pair[] {
  const [first = "none"] = thoughtsIn(transcript);
  return pairs.filter(({ near }) => thoughtsIn(near.request.body.toString()).includes(first));
}

test.each([
  ["under one name", { "x-aperture-session": "twins" }, (n: number) => `answer ${n}.`],
  ["without a name, with the same answer", {}, () => "answer 0."],
])(`${twins} identical calls %s continue as ${twins} branches`, async (_, headers, answerText) => {
  const rig = await startManagedRig({ upstream: { model: modelOf(answerText), binding: "bound-models" } });
  try {
    const { code, transcripts } = await runTwins(rig, headers);
    const { exchanges } = rig.upstream;
    const near = rig.near();
    const pairs = pairsOf(near, exchanges);
    expect({ code, requests: exchanges.length, answers: pairs.length }).toEqual({
      code: 0,
      requests: twins * turns,
      answers: twins * turns,
    });
    expect(refusedIn(exchanges)).toEqual([]);
    expect(pairs.filter(({ far }) => !isManaged(far))).toEqual([]);
    expect(pairs.filter((pair) => isMixedUp(pair))).toEqual([]);
    const thoughts = transcripts.map(thoughtsIn);
    expect(new Set(thoughts.flat()).size).toBe(twins * turns);
    expect(thoughts.filter(({ length }) => length !== turns)).toEqual([]);
    const byTwin = transcripts.map((transcript) => requestsOf(transcript, pairs));
    expect(byTwin.map((requests) => ({ requests: requests.length, breaks: breaksIn(requests) }))).toEqual(
      transcripts.map(() => ({ requests: turns - 1, breaks: 0 })),
    );
    expect(leaksIn(near)).toEqual([]);
    expect(transcripts.filter(holdsOurs)).toEqual([]);
  } finally {
    await rig.close();
  }
});

/** True if the model got other reasoning than its client sent. */
function isMixedUp({ near, far }: Pair): boolean {
  const [sent, received] = [near.request.body, far.body].map((body) => thoughtsIn(body.toString()));
  return sent?.join() !== received?.join();
}
