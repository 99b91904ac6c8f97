import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BodySplit, type DeliveryStep, deliverySteps } from "./delivery-steps.ts";
import type { CoreAnswer } from "./strict-core.ts";
import type { UpstreamFault } from "./upstream-faults.ts";

const answer: CoreAnswer = {
  status: 200,
  headers: [["content-type", "text/event-stream"]],
  chunks: ["one\n\n", "two\n\n", "thrée\n\n"].map((text) => Buffer.from(text)),
  isStreamed: true,
  problem: null,
  usage: null,
  onStart: () => undefined,
};

function stepsOf(fault: UpstreamFault | null, split: BodySplit = "events", chunkMs = 0): readonly string[] {
  return deliverySteps({ answer, fault, split, chunkMs }).map(describeStep);
}

function describeStep(step: DeliveryStep): string {
  switch (step.type) {
    case "write":
      return step.bytes.toString("utf8").trim();
    case "wait":
      return `wait ${step.ms}`;
    case "head":
      return `${step.status}`;
    default:
      return step.type;
  }
}

describe("each fault has its steps", () => {
  test.each<[UpstreamFault, readonly string[]]>([
    [{ type: "hang-before-head" }, ["hang"]],
    [{ type: "reset-before-head" }, ["reset"]],
    [{ type: "slow-head", ms: 9 }, ["wait 9", "200", "one", "two", "thrée", "end"]],
    [{ type: "early-hints" }, ["hints", "200", "one", "two", "thrée", "end"]],
    [{ type: "pause-after-events", events: 1, ms: 9 }, ["200", "one", "wait 9", "two", "thrée", "end"]],
    [{ type: "slow-events", ms: 9 }, ["200", "one", "wait 9", "two", "wait 9", "thrée", "wait 9", "end"]],
    [{ type: "hang-after-events", events: 2 }, ["200", "one", "two", "hang"]],
    [{ type: "reset-after-events", events: 2 }, ["200", "one", "two", "reset"]],
    [{ type: "reset-after-bytes", bytes: 2 }, ["200", "on", "reset"]],
    [{ type: "end-after-events", events: 0 }, ["200", "end"]],
    [{ type: "end-after-bytes", bytes: 14 }, ["200", "one\n\ntwo\n\nthr\ufffd", "end"]],
    [{ type: "close-after-events", events: 1 }, ["200", "one", "close"]],
    [
      { type: "garbage-after-events", events: 1, bytes: Buffer.from("?") },
      ["200", "one", "?", "two", "thrée", "end"],
    ],
    [{ type: "short-body", missing: 5 }, ["200", "one", "two", "thrée", "close"]],
    [{ type: "redirect", location: "http://127.0.0.1:1" }, ["307", "end"]],
    [{ type: "not-http", text: "hello" }, ["raw", "close"]],
  ])("%o", (fault, expected) => {
    expect(stepsOf(fault)).toEqual(expected);
  });

  test("a missing blank line joins two events, and an error is an event of its own", () => {
    const joined = deliverySteps({
      answer,
      fault: { type: "missing-blank-line", event: 1 },
      split: "whole",
      chunkMs: 0,
    });
    expect(joined.map(describeStep)[1]).toContain("one\ntwo\n\n");
    const fault: UpstreamFault = {
      type: "error-event",
      events: 1,
      errorType: "overloaded_error",
      message: "m",
    };
    expect(stepsOf(fault)[2]).toContain('"error":{"type":"overloaded_error","message":"m"}');
    expect(stepsOf({ type: "huge-event", events: 1, bytes: 1000 })[2]?.length).toBeGreaterThan(1000);
  });
});

describe("splitting", () => {
  test.each<[BodySplit, readonly string[]]>([
    ["whole", ["200", "one\n\ntwo\n\nthrée", "end"]],
    [14, ["200", "one\n\ntwo\n\nthr?", "?e", "end"]],
    [
      [1, 2],
      ["200", "o", "n", "e\n\ntwo\n\nthrée", "end"],
    ],
  ])("%o", (split, expected) => {
    expect(stepsOf(null, split).map((text) => text.replace("\ufffd", "?"))).toEqual(expected);
  });

  test("never changes the bytes, for any fault and any cuts", () => {
    const split = fc.oneof(
      fc.constantFrom<BodySplit>("whole", "events"),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.nat(30)),
    );
    fc.assert(
      fc.property(split, fc.nat(3), (cuts, events) => {
        const fault: UpstreamFault = { type: "pause-after-events", events, ms: 1 };
        const bytesOf = (how: BodySplit) =>
          Buffer.concat(
            deliverySteps({ answer, fault, split: how, chunkMs: 0 }).flatMap((step) =>
              step.type === "write" ? [step.bytes] : [],
            ),
          ).toString("hex");
        expect(bytesOf(cuts)).toBe(bytesOf("events"));
      }),
      { numRuns: 50 },
    );
  });
});

test("a pace puts a pause behind every event", () => {
  expect(stepsOf(null, "events", 3)).toEqual([
    "200",
    "one",
    "wait 3",
    "two",
    "wait 3",
    "thrée",
    "wait 3",
    "end",
  ]);
});

test("an answer that does not stream has a length header, unless its body will be cut", () => {
  const json = { ...answer, isStreamed: false, chunks: [Buffer.from("{}")] };
  const lengthHeader = (fault: UpstreamFault | null) => {
    const head = deliverySteps({ answer: json, fault, split: "events", chunkMs: 0 })[0];
    return head?.type === "head" ? head.headers["content-length"] : "none";
  };
  expect(lengthHeader(null)).toBe("2");
  expect(lengthHeader({ type: "short-body", missing: 5 })).toBe("7");
  expect(lengthHeader({ type: "end-after-bytes", bytes: 1 })).toBeUndefined();
});
