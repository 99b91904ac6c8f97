// A program with an SDK asks the same thing many times at once, and goes on with each answer by itself.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import type { ReplyBlock, ScriptedModel } from "../../src/testing/index.ts";
import { startChild } from "../support/child.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { breaksIn, holdsOurs, isManaged, leaksIn, refusedIn } from "./managed-lines.ts";
import { type ManagedRig, type Pair, pairsOf, startManagedRig } from "./managed-rig.ts";

const twins = 50;
const turns = 3;
/** As many tokens as make a session without a name worth managing. */
const large = "q7 x9 z4 w2".repeat(6_000);

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

/** Each answer is another by its reasoning, bound to what was sent; all of a round are under way at once. */
function modelOf(words: (n: number) => string): ScriptedModel {
  let count = 0;
  return async ({ messages }) => {
    count += 1;
    const thought: ReplyBlock = { type: "thinking", thinking: `thought ${count}.` };
    const said = { type: "text", text: words(count) } as const;
    const call = { type: "tool_use", name: "add", input: { a: 1, b: 2 } } as const;
    await sleep(100);
    const isSecond = messages.filter(({ role }) => role === "assistant").length === 1;
    return { content: isSecond ? [thought, call] : [thought, said] };
  };
}

type Told = { readonly code: number | null; readonly transcripts: readonly string[] };

async function runTwins({ url }: ManagedRig, headers: Readonly<Record<string, string>>): Promise<Told> {
  const plan = { url, headers, twins, turns, prompt: `This is asked of all.\n${large}` };
  const module = clients.moduleUrl("@anthropic-ai/sdk");
  const child = startChild("test/clients/managed-twins-child.mjs", [module, JSON.stringify(plan)]);
  const { code, stderr } = await child.ended;
  expect(stderr).toBe("");
  return { code, transcripts: child.lines };
}

/** What the model has thought in a history, in its order. */
function thoughtsIn(text: string): readonly string[] {
  return text.match(/thought \d+\./g) ?? [];
}

/** The requests of one twin behind the first, which is nobody's in particular. */
function requestsOf(transcript: string, pairs: readonly Pair[]): readonly Pair[] {
  const [first = "none"] = thoughtsIn(transcript);
  return pairs.filter(({ near }) => thoughtsIn(near.request.body.toString()).includes(first));
}

test.each([
  ["under one name", { "x-aperture-session": "twins" }, (n: number) => `answer ${n}.`],
  ["without a name, told the same", {}, () => "answer 0."],
])(
  `${twins} identical calls %s go on as ${twins} branches`,
  { timeout: 60_000 },
  async (_, headers, words) => {
    const rig = await startManagedRig({ upstream: { model: modelOf(words), binding: "bound-models" } });
    try {
      const { code, transcripts } = await runTwins(rig, headers);
      const { exchanges } = rig.upstream;
      const near = rig.near();
      const pairs = pairsOf(near, exchanges);
      expect({ code, asked: exchanges.length, told: pairs.length }).toEqual({
        code: 0,
        asked: twins * turns,
        told: twins * turns,
      });
      expect(refusedIn(exchanges)).toEqual([]);
      expect(pairs.filter(({ far }) => !isManaged(far))).toEqual([]);
      expect(pairs.filter((pair) => isMixedUp(pair))).toEqual([]);
      const thoughts = transcripts.map(thoughtsIn);
      expect(new Set(thoughts.flat()).size).toBe(twins * turns);
      expect(thoughts.filter(({ length }) => length !== turns)).toEqual([]);
      const lines = transcripts.map((transcript) => requestsOf(transcript, pairs));
      expect(lines.map((line) => ({ requests: line.length, breaks: breaksIn(line) }))).toEqual(
        transcripts.map(() => ({ requests: turns - 1, breaks: 0 })),
      );
      expect(leaksIn(near)).toEqual([]);
      expect(transcripts.filter(holdsOurs)).toEqual([]);
    } finally {
      await rig.close();
    }
  },
);

/** Whether the model was shown other reasoning than its client has. */
function isMixedUp({ near, far }: Pair): boolean {
  const [said, shown] = [near.request.body, far.body].map((body) => thoughtsIn(body.toString()));
  return said?.join() !== shown?.join();
}
