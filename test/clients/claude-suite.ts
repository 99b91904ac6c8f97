import { beforeAll, describe, expect, test } from "vitest";
import { isLong } from "../support/runs.ts";
import { lawOfSameness, lawsOfEveryScript, type Twice, textsOf } from "./claude-laws.ts";
import {
  backgroundSession,
  type Story,
  shortSession,
  type Telling,
  tell,
  wholeSession,
} from "./claude-script.ts";
import { type ClaudeVersion, installClients, installMs } from "./install.ts";
import { agentOf, isCount, messageShape, messagesOf, shapesOf } from "./shapes.ts";

export type ClaudeTraits = {
  readonly version: ClaudeVersion;
  /** Whether its usual model binds its reasoning to the conversation. */
  readonly bound: boolean;
  /** Whether it asks for the bare address first, to see that somebody is there. */
  readonly knocks: boolean;
  /** Models to try besides, with `--long`. */
  readonly models: readonly string[];
};

const tellMs = 180_000;

/** Every test of Claude Code, for one version of it. */
export function claudeSuite(traits: ClaudeTraits): void {
  describe(`Claude Code ${traits.version}`, () => {
    wholeSessionTests(traits);
    backgroundTests(traits);
    for (const model of isLong ? traits.models : []) {
      const twice = tellTwice(traits, { steps: shortSession, flags: ["--model", model] });
      lawsOfEveryScript(model, twice);
      lawOfSameness(model, twice);
      test(`${model}: nothing is refused, and every step says what it should`, () => {
        const { through } = twice();
        expect(through.recording.refusals).toEqual([]);
        expect(Object.values(textsOf(through))).toEqual(["hello there", "tools done", "the third turn"]);
      });
    }
  });
}

/** Both ways at once: they share nothing, and the client mostly waits. */
function tellTwice({ version }: ClaudeTraits, telling: Omit<Telling, "program" | "way">): () => Twice {
  let told: Twice | null = null;
  beforeAll(async () => {
    const program = (await installClients()).claudeCode(version);
    const ways = ["direct", "through"] as const;
    const [direct, through] = await Promise.all(ways.map((way) => tell({ ...telling, program, way })));
    if (direct !== undefined && through !== undefined) told = { direct, through };
  }, installMs + tellMs);
  return () => {
    if (told === null) throw new Error("the script was not played");
    return told;
  };
}

function wholeSessionTests(traits: ClaudeTraits): void {
  const twice = tellTwice(traits, { steps: wholeSession });
  lawsOfEveryScript("a whole session", twice);
  lawOfSameness("a whole session", twice);

  test("a whole session: every step says what it should, and the tools did their work", () => {
    const { through } = twice();
    expect(textsOf(through)).toEqual({
      plain: "hello there",
      tools: "tools done",
      third: "the third turn",
      agent: "everything done",
      compact: "",
      after: "after the compaction",
    });
    expect(through.edited).toBe("alpha\ngamma\n");
  });

  test("a whole session: it holds parallel calls, an agent, counts and a compaction", () => {
    const { near } = twice().through.recording;
    const last = near.filter((exchange) => agentOf(exchange) === null && !isCount(exchange));
    const shapes = last.flatMap(messagesOf).map(messageShape);
    expect(shapes.some((shape) => shape.endsWith("tool_use:Read,tool_use:Bash)"))).toBe(true);
    expect(shapes.some((shape) => shape.endsWith("tool_use:Nowhere)"))).toBe(true);
    expect(near.filter((exchange) => agentOf(exchange) !== null).length).toBeGreaterThanOrEqual(2);
    expect(near.filter(isCount).length).toBeGreaterThanOrEqual(10);
    const lengths = last.map((exchange) => messagesOf(exchange).length);
    expect(lengths.at(-1)).toBeLessThan(Math.max(...lengths));
  });

  test("a whole session: only reasoning kept over a compaction is refused, and the client mends that", () => {
    const { refusals } = twice().through.recording;
    expect(refusals.length).toBe(traits.bound ? 1 : 0);
    expect(refusals.filter((text) => !text.includes("bound to a different conversation"))).toEqual([]);
  });
}

/** Answers are compressed and cut at odd places here, which no client and no relay may notice. */
function backgroundTests(traits: ClaudeTraits): void {
  const upstream = { compress: true, split: 61 };
  const twice = tellTwice(traits, { steps: backgroundSession, upstream, outside: "open" });
  lawsOfEveryScript("an agent in the background", twice);

  test("an agent in the background: it says the same with Aperture as without", () => {
    const { direct, through } = twice();
    // When the one above hears of it depends on who is quicker, so that the main list is not compared.
    const agents = ({ recording }: Story) =>
      shapesOf(recording.near.filter((each) => agentOf(each) !== null));
    expect(agents(through)).toEqual(agents(direct));
    expect(agents(through)["agent 1"]?.length).toBe(2);
    expect(through.results["third"]?.result).toBe("the third turn");
    expect(through.recording.refusals).toEqual([]);
  });

  test("an agent in the background: a knock at the bare address is answered here and goes no further", () => {
    const { near, far } = twice().through.recording;
    const knocks = near.filter(({ target }) => target === "/");
    expect(knocks.map(({ method, status }) => `${method} ${status}`)).toEqual(
      traits.knocks ? ["HEAD 404", "HEAD 404"] : [],
    );
    expect(far.filter(({ target }) => target === "/")).toEqual([]);
  });
}
