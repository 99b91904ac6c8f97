// A block that the policy lowered is sent with its earlier bytes after an undo.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { must, sessionId, unwrap } from "../../src/base/index.ts";
import type { StreamLookup } from "../../src/exchange/index.ts";
import type { PlannerDeps } from "../../src/host/planner/session-planner.ts";
import { SessionRecorder } from "../../src/recorder/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import type { ModelReply } from "../../src/testing/index.ts";
import { PlannerKit, type Posted } from "../support/planner-kit.ts";
import { isLong } from "../support/runs.ts";
import { type ClientBlock, type ClientMessage, mark, text, user } from "../support/scripted-client.ts";
import { type SteppedClock, steppedClock } from "../support/stepped-clock.ts";
import { upstreamUnits } from "../support/upstream-units.ts";

const session = sessionId("undo-1");
const headers = { "x-aperture-session": "one" };
const model = "claude-opus-5-5";
const tools = [{ name: "read", description: "Reads a file.", input_schema: { type: "object" } }];
const system = "You look after an old library. ".repeat(80);

/** A file whose lines all differ. */
const file = Array.from({ length: 90 }, (_, at) => `shelf ${at}: ${at * 7} books, ${at * 3} of them lent`);
const page = file.join("\n");
/** A log that keeps many lines when it is trimmed. */
const errors = Array.from({ length: 160 }, (_, at) =>
  at % 2 === 0
    ? `checked shelf ${at} of the randomReading room, lamp ${at * 3} is lit, ladder ${at * 5} is in its place`
    : `ERROR shelf ${at}: the binding of volume ${at * 7} is torn`,
).join("\n");

/** A client, a planner, a strict upstream, and a recorder with its policy. */
class Story {
  readonly #clock: SteppedClock = steppedClock(1_000_000);
  readonly #store = openMemoryStore();
  readonly #replies: ModelReply[] = [];
  readonly #kit: PlannerKit;
  readonly #recorder: SessionRecorder;
  #history: readonly ClientMessage[] = [];
  #calls = 0;
  #last = "";

  /** Tokens the window holds. */
  window = 200_000;

  constructor(arrival: ReturnType<PlannerDeps["arrivalPolicy"]>["arrival"] = "lossless") {
    this.#recorder = this.#newRecorder();
    this.#kit = new PlannerKit({
      model: () => must(this.#replies.shift(), "a reply was given"),
      clock: this.#clock,
      place: {
        lookUpStream: async (question: StreamLookup) => unwrap(await this.#recorder.streamRecord(question)),
        arrivalPolicy: () => ({ arrival }),
        windowOf: () => this.window,
      },
    });
  }

  #newRecorder(): SessionRecorder {
    return new SessionRecorder({
      store: this.#store,
      clock: this.#clock,
      newSession: () => session,
      onEvent: () => undefined,
      onWishes: (wishes) => this.#kit.planner.updateWishes(wishes),
      windowOf: () => this.window,
      policy: "auto",
    });
  }

  /** The user asks, the model reads a file, and answers without mentioning it. */
  async read(path: string, content: string): Promise<string> {
    this.#calls += 1;
    const id = `call-${this.#calls}`;
    await this.say("Read it.", [{ type: "tool_use", id, name: "read", input: { path } }]);
    await this.#send(
      [{ type: "tool_result", tool_use_id: id, content }],
      [{ type: "text", text: "So it is." }],
    );
    return id;
  }

  say(words: string, reply: ModelReply["content"] = [{ type: "text", text: "Yes." }]): Promise<void> {
    return this.#send([text(words)], reply);
  }

  async turns(count: number): Promise<void> {
    for (let at = 0; at < count; at += 1) await this.say("And then?");
  }

  /** Waits until the cache has expired. */
  async rest(): Promise<void> {
    this.#clock.advance(2 * 60 * 60_000);
    await this.say("I am back.");
  }

  /** Undoes the last step with this reason. */
  async undo(reason: string): Promise<void> {
    const state = unwrap(await this.#recorder.cache.log(session)).state();
    const steps = [...state.steps.entries()].map(([, step]) => step);
    const step = must(
      steps.findLast((one) => one.reason.startsWith(reason) && one.log.value.done),
      `something was done: ${reason}`,
    );
    unwrap(await this.#recorder.reverseStep(session, "undo", step.id));
  }

  /** Undoes all steps of the policy, the latest first. Returns their reasons. */
  async undoAll(): Promise<readonly string[]> {
    const state = unwrap(await this.#recorder.cache.log(session)).state();
    const steps = [...state.steps.entries()].map(([, step]) => step);
    const done = steps.filter((one) => one.actor === "policy" && one.log.value.done).reverse();
    for (const { id } of done) unwrap(await this.#recorder.reverseStep(session, "undo", id));
    return done.map(({ reason }) => reason);
  }

  /** The bytes of a tool result in the last request. */
  shown(call: string): string {
    const units = upstreamUnits(this.#last).map((unit) => unit.text);
    return must(
      units.find((one) => one.includes(`"tool_use_id":"${call}"`)),
      "it was sent",
    );
  }

  async #send(blocks: readonly ClientBlock[], reply: ModelReply["content"]): Promise<void> {
    this.#replies.push({ content: reply });
    const history = [...this.#history, user(...blocks)];
    const marked = blocks.map((block, at) => (at === blocks.length - 1 ? { ...block, ...mark } : block));
    const messages = [...this.#history, user(...marked)];
    const posted = await this.#kit.post({ model, max_tokens: 2_000, system, tools, messages }, { headers });
    expect(posted.attempts.map(({ problem }) => problem)).toEqual([null]);
    this.#last = must(posted.attempts.at(-1), "it was sent").body;
    await this.#record(posted);
    const { content } = JSON.parse(posted.body.toString()) as { readonly content: readonly ClientBlock[] };
    this.#history = [...history, { role: "assistant", content }];
  }

  async #record({ asking, sending, answer, body, numbered }: Posted): Promise<void> {
    const { clientBody, sent } = sending;
    await this.#recorder.recordRequest({ ...asking, body: clientBody, length: clientBody.length, sent });
    const ended = {
      status: answer.status,
      outcome: "complete",
      problem: null,
      firstByteMs: 1,
      totalMs: 2,
    } as const;
    const type = { "content-type": "application/json" };
    await this.#recorder.recordResponse({
      ...ended,
      id: asking.id,
      headers: type,
      body,
      length: body.length,
      answer: null,
      blockNumbers: numbered,
    });
    await this.#recorder.idle();
  }
}

describe("an undone block is sent with its first bytes", () => {
  it("after it was trimmed because it was stale, and stays so", async () => {
    const story = new Story();
    const call = await story.read("shelves", page);
    const first = story.shown(call);
    await story.turns(6);
    await story.rest();
    expect(story.shown(call)).toMatch(/#\d+ trimmed, whole/);
    await story.undo("not used for a while");
    await story.rest();
    expect(story.shown(call)).toBe(first);
    await story.turns(2);
    await story.rest();
    expect(story.shown(call)).toBe(first);
  });

  it("after it was superseded", async () => {
    const story = new Story();
    const call = await story.read("shelves", page);
    const first = story.shown(call);
    await story.read("shelves", file.map((line) => `${line} now`).join("\n"));
    // Its shorter rendition is made after the turn that wants it.
    await story.turns(1);
    await story.rest();
    expect(story.shown(call)).toMatch(/#\d+ minimal, whole/);
    await story.undo("superseded");
    await story.rest();
    expect(story.shown(call)).toBe(first);
  });

  it("after its turns were over", async () => {
    const story = new Story();
    const call = await story.read("shelves", errors);
    await story.turns(6);
    await story.rest();
    const trimmed = story.shown(call);
    expect(trimmed).toMatch(/#\d+ trimmed, whole/);
    await story.turns(21);
    await story.rest();
    expect(story.shown(call)).toMatch(/#\d+ minimal, whole/);
    await story.undo("its turns are over");
    await story.rest();
    expect(story.shown(call)).toBe(trimmed);
  });

  it("after it was pruned under pressure", async () => {
    const story = new Story();
    const call = await story.read("shelves", page);
    const first = story.shown(call);
    await story.read("errors", errors);
    story.window = 9_000;
    await story.read("more", errors.replaceAll("shelf", "case"));
    expect(story.shown(call)).not.toContain("shelf 3: 21 books");
    // With a small window it would be pruned again.
    story.window = 200_000;
    await story.undo("window pressure");
    await story.rest();
    expect(story.shown(call)).toBe(first);
  });

  it("after it was trimmed on arrival, as if that were off", async () => {
    const [story, other] = [new Story("trimmed"), new Story("off")];
    const long = `${errors}\n${page}\n${errors.replaceAll("shelf", "case")}`;
    const call = await story.read("shelves", long);
    expect(story.shown(call)).toMatch(/#\d+ trimmed, whole/);
    await story.turns(1);
    await story.undo("cut on arrival");
    await story.rest();
    expect(story.shown(call)).toBe(other.shown(await other.read("shelves", long)));
  });

  it("after any steps of the policy in any order, once all are undone", async () => {
    const undoneReasons = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(randomReading, { minLength: 2, maxLength: 5 }), async (readings) => {
        const story = new Story();
        const first = new Map<string, string>();
        for (const [at, { path, lines, turns, rests }] of readings.entries()) {
          const call = await story.read(path, lines.map((line) => `${at} ${path} ${line}`).join("\n"));
          first.set(call, story.shown(call));
          await story.turns(turns);
          if (rests) await story.rest();
        }
        await story.turns(6);
        await story.rest();
        for (const reason of await story.undoAll()) undoneReasons.add(reason.replace(/ #\d+$/, ""));
        await story.rest();
        for (const [call, bytes] of first) expect(story.shown(call) === bytes, call).toBe(true);
      }),
      { numRuns: isLong ? 60 : 6 },
    );
    expect([...undoneReasons].sort()).toEqual([
      "its turns are over",
      "not used for a while",
      "superseded by",
    ]);
  }, 300_000);
});

/** A file is read, and some turns pass; the same file may be read again. */
const randomReading = fc.record({
  path: fc.constantFrom("shelves", "lamps"),
  lines: fc.array(fc.stringMatching(/^[a-z_]{4,12} [0-9]{1,5} (ERROR )?[a-z ]{20,60}$/), {
    minLength: 40,
    maxLength: 90,
  }),
  turns: fc.constantFrom(0, 2, 7, 22),
  rests: fc.boolean(),
});
