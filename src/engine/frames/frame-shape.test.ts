import { describe, expect, it } from "vitest";
import { deltaExamples, exampleBlock, exampleUnit } from "../../../test/support/delta-examples.ts";
import { GENESIS_HASH, limits, seqOf, sessionId, streamId, turnOf } from "../../base/index.ts";
import { blockKinds, levels, scopes, shownForms, taints } from "./block.ts";
import { type Delta, deltaTypes, rewriteReasons, turnOutcomes } from "./delta.ts";
import { actors } from "./facts.ts";
import { causeTypes, type FrameDraft, sealFrame } from "./frame.ts";
import { checkDraft, parseFrame } from "./frame-shape.ts";

const frame = sealFrame(
  {
    session: sessionId("s"),
    seq: seqOf(1),
    stream: streamId(1),
    turn: turnOf(0),
    time: 0,
    actor: "client",
    cause: { type: "request", step: null, reason: "" },
    deltas: [],
  },
  GENESIS_HASH,
);

/** The problem parseFrame finds in the frame with some fields changed. Null if it accepts it. */
function problemWith(change: Readonly<Record<string, unknown>>): string | null {
  const parsed = parseFrame(JSON.parse(JSON.stringify({ ...frame, ...change })));
  return parsed.ok ? null : parsed.error.message;
}

const problemWithDelta = (delta: unknown) => problemWith({ deltas: [delta] });
const withField = (delta: Delta, field: string, value: unknown) => ({ ...delta, [field]: value });

describe("parseFrame accepts", () => {
  it("a sealed frame, and returns the same object", () => {
    expect(parseFrame(frame)).toEqual({ ok: true, value: frame });
  });

  it.each(deltaTypes)("a well-formed %s", (type) => {
    expect(problemWithDelta(deltaExamples[type])).toBeNull();
  });

  it.each<[string, unknown, readonly string[]]>([
    ["actor", null, actors],
    ["cause", (type: string) => ({ ...frame.cause, type }), causeTypes],
  ])("every %s there is", (field, make, choices) => {
    for (const choice of choices) {
      const value = typeof make === "function" ? (make(choice) as unknown) : choice;
      expect(problemWith({ [field]: value })).toBeNull();
    }
  });

  it.each<[string, readonly string[], (choice: string) => unknown]>([
    ["kind of block", blockKinds, (kind) => ({ type: "block-added", block: { ...exampleBlock, kind } })],
    ["taint", taints, (taint) => ({ type: "block-added", block: { ...exampleBlock, taint } })],
    ["scope", scopes, (scope) => withField(deltaExamples["scope-set"], "to", scope)],
    ["level", levels, (level) => withField(deltaExamples["rendition-set"], "level", level)],
    ["outcome", turnOutcomes, (outcome) => withField(deltaExamples["turn-answered"], "outcome", outcome)],
    [
      "reason for a rewrite",
      rewriteReasons,
      (reason) => withField(deltaExamples["epoch-started"], "reason", reason),
    ],
    [
      "shown form",
      shownForms,
      (as) => ({ type: "unit-sent", unit: { ...exampleUnit, shows: [{ block: 1, as }] } }),
    ],
    [
      "pin",
      ["none", "top", "bottom"],
      (value) => withField(deltaExamples["pin-set"], "to", { value, by: "user" }),
    ],
  ])("every %s, and no other", (_, choices, make) => {
    for (const choice of choices) expect(problemWithDelta(make(choice))).toBeNull();
    expect(problemWithDelta(make("other"))).toContain(`is not one of ${choices.join(", ")}`);
  });

  it.each<[string, unknown]>([
    ["no parent", withField(deltaExamples["stream-opened"], "parent", null)],
    ["no parent view", withField(deltaExamples["view-opened"], "parent", null)],
    [
      "no pair, ttl or replaced block",
      { type: "block-added", block: { ...exampleBlock, pair: null, ttl: null, supersedes: null } },
    ],
    [
      "no parent unit and no message",
      { type: "unit-sent", unit: { ...exampleUnit, parent: null, message: null } },
    ],
    ["no usage", withField(deltaExamples["turn-answered"], "usage", null)],
    ["no cut", withField(deltaExamples["epoch-started"], "cut", null)],
  ])("%s where there may be none", (_, delta) => {
    expect(problemWithDelta(delta)).toBeNull();
  });
});

describe("parseFrame says where and what is wrong", () => {
  it.each([[null], [undefined], [1], ["frame"], [[]], [[frame]]])("when it gets %j", (value) => {
    const parsed = parseFrame(value);
    expect(parsed.ok ? null : parsed.error).toMatchObject({
      code: "AP_FRAME_SHAPE",
      message: "This is not a frame: frame is not an object.",
    });
  });

  it.each(Object.keys(frame))("when the field %s is missing", (field) => {
    const { [field]: _, ...rest } = frame as unknown as Record<string, unknown>;
    const parsed = parseFrame(rest);
    expect(parsed.ok ? null : parsed.error.message).toContain(`frame.${field} is not`);
  });

  it.each([
    ["session", "No Capitals", "frame.session is not a session id"],
    ["seq", -1, "frame.seq is not a whole number from 0"],
    ["seq", 1.5, "frame.seq is not a whole number from 0"],
    ["seq", "1", "frame.seq is not a whole number from 0"],
    ["stream", "main", "frame.stream is not a whole number from 0"],
    ["turn", null, "frame.turn is not a whole number from 0"],
    ["time", 0.5, "frame.time is not a time"],
    ["time", 2 ** 53, "frame.time is not a time"],
    ["actor", "nobody", "frame.actor is not one of user, client, model, sidecar, policy"],
    ["deltas", {}, "frame.deltas is not a list of up to 20000"],
    ["hash", "x", "frame.hash is not a hash"],
    ["prevHash", frame.hash.toUpperCase(), "frame.prevHash is not a hash"],
  ])("when the field %s is %j", (field, value, problem) => {
    expect(problemWith({ [field]: value })).toBe(`This is not a frame: ${problem}.`);
  });

  it("when a field is unknown, at any depth, naming no more than the start of it", () => {
    expect(problemWith({ extra: 1 })).toContain("frame has an unknown field extra");
    expect(problemWith({ cause: { ...frame.cause, who: 1 } })).toContain(
      "frame.cause has an unknown field who",
    );
    const delta = { type: "block-added", block: { ...exampleBlock, ["x".repeat(99)]: 1 } };
    expect(problemWithDelta(delta)).toContain(
      `frame.deltas[0].block has an unknown field ${"x".repeat(40)}.`,
    );
  });

  it.each(["constructor", "toString", "__proto__"])(
    "when the type of a delta is the inherited name %s",
    (type) => {
      expect(problemWithDelta({ type })).toContain("frame.deltas[0] has no known type");
    },
  );

  it.each([[null], [1], ["block-added"], [{}], [{ type: "facet-deleted" }]])(
    "when a delta is %j",
    (delta) => {
      expect(problemWithDelta(delta)).toBe("This is not a frame: frame.deltas[0] has no known type.");
    },
  );

  it.each(deltaTypes)("when a field of %s is missing or unknown", (type) => {
    const { type: _, ...fields } = deltaExamples[type] as unknown as Record<string, unknown>;
    for (const field of Object.keys(fields)) {
      const { [field]: __, ...rest } = fields;
      expect(problemWithDelta({ ...rest, type })).toContain(`frame.deltas[0].${field} is not`);
    }
    expect(problemWithDelta({ ...fields, type, odd: 1 })).toContain(
      "frame.deltas[0] has an unknown field odd",
    );
  });

  it("with the first of two problems", () => {
    const broken = [deltaExamples["run-started"], { type: "run-started" }, { type: "?" }];
    expect(problemWith({ deltas: broken })).toContain("frame.deltas[1].stream is not a whole number from 0");
  });
});

describe("parseFrame keeps the limits", () => {
  const block = (change: object) => ({ type: "block-added", block: { ...exampleBlock, ...change } });
  const topics = (to: readonly string[]) => withField(deltaExamples["topics-set"], "to", to);
  const archive = (reason: string) =>
    withField(deltaExamples["archive-set"], "to", { value: { reason }, by: "model" });
  const tokens = (count: number) =>
    withField(deltaExamples["tokens-counted"], "tokens", { count, exact: true });
  const shows = (count: number) => Array.from({ length: count }, () => ({ block: 1, as: "original" }));

  it.each<[string, number, (size: number) => unknown]>([
    ["nameCharsMax", limits.nameCharsMax, (size) => block({ speaker: "x".repeat(size) })],
    [
      "nameCharsMax of a stream",
      limits.nameCharsMax,
      (size) => withField(deltaExamples["stream-opened"], "name", "x".repeat(size)),
    ],
    [
      "nameCharsMax of an agent",
      limits.nameCharsMax,
      (size) => withField(deltaExamples["view-opened"], "agent", "x".repeat(size)),
    ],
    ["anchorCharsMax", limits.anchorCharsMax, (size) => block({ anchor: "x".repeat(size) })],
    ["reasonCharsMax", limits.reasonCharsMax, (size) => archive("x".repeat(size))],
    ["topicsMax", limits.topicsMax, (size) => topics(Array<string>(size).fill("x"))],
    ["topicCharsMax", limits.topicCharsMax, (size) => topics(["x".repeat(size)])],
    ["tokensMax", limits.tokensMax, tokens],
    ["ttlTurnsMax", limits.ttlTurnsMax, (spanTurns) => block({ ttl: { at: 1, spanTurns } })],
    ["twice turnsMax", limits.turnsMax * 2, (at) => block({ ttl: { at, spanTurns: 1 } })],
    [
      "blocksPerUnitMax",
      limits.blocksPerUnitMax,
      (size) => ({ type: "unit-sent", unit: { ...exampleUnit, shows: shows(size) } }),
    ],
  ])("%s: %i is taken and one more is refused", (_, most, make) => {
    expect(problemWithDelta(make(most))).toBeNull();
    expect(problemWithDelta(make(most + 1))).toMatch(/^This is not a frame: frame\.deltas\[0\]/);
  });

  it("reasonCharsMax of the cause: 500 is accepted and one more is refused", () => {
    const cause = (size: number) => ({ cause: { ...frame.cause, reason: "x".repeat(size) } });
    expect(problemWith(cause(limits.reasonCharsMax))).toBeNull();
    expect(problemWith(cause(limits.reasonCharsMax + 1))).toContain(
      "frame.cause.reason is not a text of up to 500",
    );
  });

  it("deltasPerFrameMax: 20000 are accepted and one more is refused", () => {
    const purges = (count: number) => ({
      deltas: Array.from({ length: count }, () => ({ type: "block-purged", block: 1 })),
    });
    expect(problemWith(purges(limits.deltasPerFrameMax))).toBeNull();
    expect(problemWith(purges(limits.deltasPerFrameMax + 1))).toContain("is not a list of up to 20000");
  });

  it("frameBytesMax: counts bytes, not characters, and names the limit", () => {
    const wide = block({
      speaker: "漢".repeat(limits.nameCharsMax),
      anchor: "漢".repeat(limits.anchorCharsMax),
    });
    const count = Math.ceil(limits.frameBytesMax / Buffer.byteLength(JSON.stringify(wide)));
    expect(problemWith({ deltas: Array(count - 2).fill(wide) })).toBeNull();
    const parsed = parseFrame({ ...frame, deltas: Array(count + 1).fill(wide) });
    expect(parsed.ok ? null : parsed.error).toMatchObject({
      code: "AP_FRAME_LIMIT",
      details: { seq: 1, limit: "frameBytesMax" },
    });
  });
});

describe("checkDraft checks a frame before it is sealed", () => {
  const { hash: _, prevHash: __, ...draft } = frame;
  const codeOf = (value: object) => {
    const checked = checkDraft(value as FrameDraft);
    return checked.ok ? null : checked.error.code;
  };

  it("accepts it, and returns the same object", () => {
    const checked = checkDraft(draft);
    expect(checked.ok && checked.value).toBe(draft);
  });

  it("accepts a draft with every type of delta", () => {
    expect(codeOf({ ...draft, deltas: Object.values(deltaExamples) })).toBeNull();
  });

  it("refuses what parseFrame would refuse, and a draft that is sealed already", () => {
    const broken = [
      { ...draft, seq: -1 },
      { ...draft, deltas: [{ type: "?" }] },
      { ...draft, odd: 1 },
      frame,
    ];
    expect(broken.map(codeOf)).toEqual(broken.map(() => "AP_FRAME_SHAPE"));
  });

  it("refuses a draft that is too large to be stored, by the same limit", () => {
    const wide = {
      type: "block-added",
      block: { ...exampleBlock, anchor: "漢".repeat(limits.anchorCharsMax) },
    };
    const count = Math.ceil(limits.frameBytesMax / (Buffer.byteLength(JSON.stringify(wide)) + 1));
    expect(codeOf({ ...draft, deltas: Array(count - 2).fill(wide) })).toBeNull();
    expect(codeOf({ ...draft, deltas: Array(count + 1).fill(wide) })).toBe("AP_FRAME_LIMIT");
  });

  it("never underestimates the size of the largest deltas", () => {
    const worst = "\u0001".repeat(limits.reasonCharsMax);
    const fact = { value: { reason: worst }, by: "sidecar" };
    const topic = Array(limits.topicsMax).fill("\u0001".repeat(limits.topicCharsMax));
    const archives = { ...deltaExamples["archive-set"], from: fact, to: fact };
    const topics = { ...deltaExamples["topics-set"], from: topic, to: topic };
    const shows = Array(limits.blocksPerUnitMax).fill({ block: Number.MAX_SAFE_INTEGER, as: "placeholder" });
    const unit = { type: "unit-sent", unit: { ...exampleUnit, shows } };
    const anchor = "\u0001".repeat(limits.anchorCharsMax);
    const speaker = "\u0001".repeat(limits.nameCharsMax);
    const added = { type: "block-added", block: { ...exampleBlock, anchor, speaker } };
    const hung = { type: "unit-sent", unit: { ...exampleUnit, anchor } };
    const opened = deltaExamples["exchange-opened"] as Extract<Delta, { type: "exchange-opened" }>;
    const target = "\u0001".repeat(limits.targetCharsMax);
    const longExchange = {
      ...opened,
      exchange: { ...opened.exchange, target, model: speaker, request: speaker },
    };
    for (const delta of [archives, topics, unit, added, hung, longExchange]) {
      const count = Math.ceil(limits.frameBytesMax / Buffer.byteLength(JSON.stringify(delta)));
      expect(codeOf({ ...draft, deltas: Array(count).fill(delta) })).toBe("AP_FRAME_LIMIT");
    }
  });
});
