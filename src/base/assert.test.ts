import { describe, expect, it } from "vitest";
import { AssertionFault, assert, must, unreachable } from "./assert.ts";

describe("assert", () => {
  it("lets a kept promise pass", () => {
    expect(() => assert(true, "kept")).not.toThrow();
  });

  it("throws its own class of error, which names the broken promise", () => {
    const broken = () => assert(false, "frames are applied in order");
    expect(broken).toThrow(AssertionFault);
    expect(broken).toThrow("frames are applied in order");
  });

  it("names its fault, so that a log line tells it from other errors", () => {
    expect(new AssertionFault("x").name).toBe("AssertionFault");
    expect(new AssertionFault("x")).toBeInstanceOf(Error);
  });
});

describe("must", () => {
  it.each([[0], [""], [false], [Number.NaN], [[]]])(
    "hands over %j, which is there though it is falsy or empty",
    (value) => {
      expect(must(value, "it is there")).toBe(value);
    },
  );

  it.each([[null], [undefined]])("refuses %s with the promise that was broken", (value) => {
    expect(() => must(value, "a view has a stream")).toThrow(new AssertionFault("a view has a stream"));
  });
});

describe("unreachable", () => {
  it("shows the unexpected value", () => {
    const odd = { type: "block-exploded" } as never;
    expect(() => unreachable(odd)).toThrow(new AssertionFault('unreachable: {"type":"block-exploded"}'));
  });
});
