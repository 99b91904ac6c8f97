// Programs with an SDK, managed: the model gets our requests, and the programs do not notice.
import { beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { prefixBreaks } from "../support/test-client.ts";
import { type Clients, installClients, installMs } from "./install.ts";
import { inLane } from "./lanes.ts";
import { breaksIn, holdsOurs, isManaged, leaksIn, refusedIn } from "./managed-bodies.ts";
import { type ManagedRig, type Pair, pairsOf, type RigOptions, startManagedRig } from "./managed-rig.ts";
import { runSdk, type SdkProgram, type SdkStep, type SdkStory, sdks, sums } from "./managed-sdk.ts";

let clients: Clients;
beforeAll(async () => {
  clients = await installClients();
}, installMs);

const named = { "x-aperture-session": "a-name" };
// Other tests may be ahead in the lane.
const timeout = 180_000;
/** Enough tokens to make a session with tools worth managing. */
const large = "q7 x9 z4 w2".repeat(6_000);

type Turn = Partial<Omit<SdkStep, "prompt">>;
type PlayedSession = { readonly rig: ManagedRig; readonly story: SdkStory; readonly pairs: readonly Pair[] };
type PlayInput = {
  readonly sdk: SdkProgram;
  /** The settings of each turn; `direct` is the upstream's own address. */
  readonly turns: (direct: string) => readonly Turn[];
  readonly options?: RigOptions;
  readonly bulk?: string;
};

const play = (input: PlayInput, check: (played: PlayedSession) => void): Promise<void> =>
  inLane(() => playNow(input, check));

/** Plays one session against a rig of its own, and checks it before the rig is closed. */
async function playNow(
  { sdk, turns, options = {}, bulk = "" }: PlayInput,
  check: (played: PlayedSession) => void,
) {
  const rig = await startManagedRig(options);
  try {
    const settings = turns(rig.upstream.url);
    const steps = settings.map((turn, at) => ({ prompt: sums(at), url: rig.url, headers: named, ...turn }));
    const story = await runSdk(sdk, clients, { steps, bulk });
    check({ rig, story, pairs: pairsOf(rig.near(), rig.upstream.exchanges) });
  } finally {
    await rig.close();
  }
}

/** Every step ended well, nothing was refused, and the program got none of our notes. */
function expectComplete({ rig, story }: PlayedSession, steps: number): void {
  const { code, values, transcript } = story;
  const ends = Array.from({ length: steps }, (_, at) => expect.stringContaining(`sums ${at} done`));
  expect({ code, values }).toEqual({ code: 0, values: ends });
  expect(refusedIn(rig.upstream.exchanges)).toEqual([]);
  expect(holdsOurs(transcript)).toBe(false);
  expect(leaksIn(rig.near())).toEqual([]);
}

function expectManaged({ pairs }: PlayedSession): void {
  expect(pairs.map(({ far }) => isManaged(far))).toEqual(pairs.map(() => true));
}

const streamed = { streams: true };
const scripts: readonly (readonly [string, readonly Turn[]])[] = [
  ["streamed and not in turns", [{}, streamed, {}, streamed]],
  ...(isLong
    ? [["streamed", [streamed, streamed, streamed]] as const, ["not streamed", [{}, {}, {}, {}]] as const]
    : []),
];
/** Faults of Aperture are the same for every program. */
const faultCases: readonly (readonly [string, NonNullable<RigOptions["faults"]>])[] = [
  ["storage that dies", { maxPages: 40 }],
  ["an engine that is stuck", { stickAfter: 3, stuckMs: 500 }],
];

describe.concurrent.each(Object.entries(sdks))("%s", (name, sdk) => {
  test.each(scripts)("a named session is managed turn by turn: %s", { timeout }, (how, turns) =>
    play({ sdk, turns: () => turns }, (played) => {
      const { pairs } = played;
      expectComplete(played, turns.length);
      expectManaged(played);
      // The ai package writes its tools differently when it streams, which is an edit by the client.
      const own = prefixBreaks(pairs.map(({ near }) => near.request.body));
      console.log(`${name}, ${how}: ${pairs.length} turns, breaks ${breaksIn(pairs)}, its own ${own}`);
      expect(pairs.length).toBe(turns.length * 3);
      expect(breaksIn(pairs)).toBe(own);
      expect(own).toBe(name === "ai" && how === "streamed and not in turns" ? 3 : 0);
    }),
  );

  test("a session without a name is managed when it is large", { timeout }, () =>
    play({ sdk, turns: () => [{ headers: {} }, { headers: {} }], bulk: large }, (played) => {
      expectComplete(played, 2);
      expectManaged(played);
      expect(breaksIn(played.pairs)).toBe(0);
    }),
  );

  test.each(isLong || name !== "ai" ? faultCases : [])("%s is not noticed", { timeout }, (_, faults) =>
    play({ sdk, turns: () => [{}, {}, {}, {}], options: { faults } }, (played) => {
      expectComplete(played, 4);
      expectManaged(played);
      expect(breaksIn(played.pairs)).toBe(0);
    }),
  );

  test("the mode may change: auto, observe, auto, bypass, auto", { timeout }, () => {
    const observe = { headers: { ...named, "x-aperture-mode": "observe" } };
    const bypass = { headers: { ...named, "x-aperture-bypass": "1" } };
    return play({ sdk, turns: () => [{}, observe, {}, bypass, {}] }, (played) => {
      expectComplete(played, 5);
      console.log(`${name}, modes: breaks ${breaksIn(played.pairs)}`);
      // Each time management stops the prefix breaks; when it resumes it continues what was sent meanwhile.
      expect(breaksIn(played.pairs)).toBe(2);
      expect(played.pairs.at(-1)?.far.body.toString()).toContain("come from Aperture");
    });
  });

  test("a session begun without Aperture is managed later", { timeout }, () =>
    play({ sdk, turns: (url) => [{ url }, { url }, {}, {}, {}] }, (played) => {
      const { exchanges } = played.rig.upstream;
      expectComplete(played, 5);
      expect(prefixBreaks(exchanges.map(({ body }) => body))).toBe(0);
      expect(exchanges.at(-1)?.body.toString()).toContain("come from Aperture");
    }),
  );

  test(
    "a session continued without Aperture is refused: its reasoning is bound to our requests",
    { timeout },
    () =>
      play({ sdk, turns: (url) => [{}, {}, { url }] }, ({ story }) => {
        console.log(`${name}, left for good: ended with ${story.code}: ${story.values.at(-1)}`);
        expect(story.code).toBe(1);
        expect(story.values.at(-1)).toContain("bound to a different conversation");
      }),
  );
});
