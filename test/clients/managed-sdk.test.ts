// Programs with an SDK, managed: what reaches the model is ours, and they notice nothing.
import { beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { prefixBreaks } from "../support/talker.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import { breaksIn, holdsOurs, isManaged, leaksIn, refusedIn } from "./managed-lines.ts";
import { type ManagedRig, type Pair, pairsOf, type RigOptions, startManagedRig } from "./managed-rig.ts";
import { runSdk, type SdkProgram, type SdkStep, type SdkStory, sdks, sums } from "./managed-sdk.ts";

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

const named = { "x-aperture-session": "a-name" };
// Others may be ahead of it.
const timeout = 180_000;
/** As many tokens as make a session with tools worth managing. */
const large = "q7 x9 z4 w2".repeat(6_000);

type Turn = Partial<Omit<SdkStep, "prompt">>;
type Played = { readonly rig: ManagedRig; readonly story: SdkStory; readonly pairs: readonly Pair[] };
type Playing = {
  readonly sdk: SdkProgram;
  /** What differs from turn to turn, given the address to go past Aperture. */
  readonly turns: (direct: string) => readonly Turn[];
  readonly options?: RigOptions;
  readonly bulk?: string;
};

const play = (playing: Playing, look: (played: Played) => void): Promise<void> =>
  inLane(() => playNow(playing, look));

/** Plays one session against a rig of its own, and looks at it before that is gone. */
async function playNow({ sdk, turns, options = {}, bulk = "" }: Playing, look: (played: Played) => void) {
  const rig = await startManagedRig(options);
  try {
    const given = turns(rig.upstream.url);
    const steps = given.map((turn, at) => ({ prompt: sums(at), url: rig.url, headers: named, ...turn }));
    const story = await runSdk(sdk, clients, { steps, bulk });
    look({ rig, story, pairs: pairsOf(rig.near(), rig.upstream.exchanges) });
  } finally {
    await rig.close();
  }
}

/** Every step came to its end, nothing was refused, and nothing of ours is in what the program holds. */
function expectWhole({ rig, story }: Played, steps: number): void {
  const { code, values, transcript } = story;
  const ends = Array.from({ length: steps }, (_, at) => expect.stringContaining(`sums ${at} done`));
  expect({ code, values }).toEqual({ code: 0, values: ends });
  expect(refusedIn(rig.upstream.exchanges)).toEqual([]);
  expect(holdsOurs(transcript)).toBe(false);
  expect(leaksIn(rig.near())).toEqual([]);
}

function expectManaged({ pairs }: Played): void {
  expect(pairs.map(({ far }) => isManaged(far))).toEqual(pairs.map(() => true));
}

const streamed = { streams: true };
const scripts: readonly (readonly [string, readonly Turn[]])[] = [
  ["both by turns", [{}, streamed, {}, streamed]],
  ["streamed", [streamed, streamed, streamed]],
  ...(isLong ? [["not streamed", [{}, {}, {}, {}]] as const] : []),
];

describe.concurrent.each(Object.entries(sdks))("%s", (name, sdk) => {
  test.each(scripts)("a named session is managed turn by turn: %s", { timeout }, (how, turns) =>
    play({ sdk, turns: () => turns }, (played) => {
      const { pairs } = played;
      expectWhole(played, turns.length);
      expectManaged(played);
      // The ai package writes its tools otherwise when it streams, which is an edit of its own.
      const own = prefixBreaks(pairs.map(({ near }) => near.request.body));
      console.log(`${name}, ${how}: ${pairs.length} turns, breaks ${breaksIn(pairs)}, its own ${own}`);
      expect(pairs.length).toBe(turns.length * 3);
      expect(breaksIn(pairs)).toBe(own);
      expect(own).toBe(name === "ai" && how === "both by turns" ? 3 : 0);
    }),
  );

  test("a session without a name is managed when it is large", { timeout }, () =>
    play({ sdk, turns: () => [{ headers: {} }, { headers: {} }], bulk: large }, (played) => {
      expectWhole(played, 2);
      expectManaged(played);
      expect(breaksIn(played.pairs)).toBe(0);
    }),
  );

  test.each([
    ["storage that dies", { maxPages: 40 }],
    ["an engine that is stuck", { stickAfter: 3, stuckMs: 500 }],
  ])("%s is not noticed", { timeout }, (_, faults) =>
    play({ sdk, turns: () => [{}, {}, {}, {}], options: { faults } }, (played) => {
      expectWhole(played, 4);
      expectManaged(played);
      expect(breaksIn(played.pairs)).toBe(0);
    }),
  );

  test("auto, observe, auto, bypass, auto", { timeout }, () => {
    const observe = { headers: { ...named, "x-aperture-mode": "observe" } };
    const bypass = { headers: { ...named, "x-aperture-bypass": "1" } };
    return play({ sdk, turns: () => [{}, observe, {}, bypass, {}] }, (played) => {
      expectWhole(played, 5);
      console.log(`${name}, modes: breaks ${breaksIn(played.pairs)}`);
      // Leaving is a break each time; coming back joins what was sent meanwhile.
      expect(breaksIn(played.pairs)).toBe(2);
      expect(played.pairs.at(-1)?.far.body.toString()).toContain("come from Aperture");
    });
  });

  test("begun without Aperture", { timeout }, () =>
    play({ sdk, turns: (url) => [{ url }, { url }, {}, {}, {}] }, (played) => {
      const { exchanges } = played.rig.upstream;
      expectWhole(played, 5);
      expect(prefixBreaks(exchanges.map(({ body }) => body))).toBe(0);
      expect(exchanges.at(-1)?.body.toString()).toContain("come from Aperture");
    }),
  );

  test("continued without Aperture it is refused: its reasoning is bound to what we sent", { timeout }, () =>
    play({ sdk, turns: (url) => [{}, {}, { url }] }, ({ story }) => {
      console.log(`${name}, left for good: ended with ${story.code}: ${story.values.at(-1)}`);
      expect(story.code).toBe(1);
      expect(story.values.at(-1)).toContain("bound to a different conversation");
    }),
  );
});
