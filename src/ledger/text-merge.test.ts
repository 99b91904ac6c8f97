import { describe, expect, test } from "vitest";
import { type MergeState, mergeNext, startMerge, textForms } from "./text-merge.ts";

const isOwnLine = (line: string): boolean => /^\[(?:CONTEXT MANIFEST )?k7f3 /.test(line);

describe("texts that a client joins", () => {
  const step = (state: MergeState | string, part: string): MergeState | string =>
    typeof state === "string" ? state : mergeNext(state, part);
  const merged = (parts: readonly string[], whole: string): string => {
    const state = parts.reduce(step, startMerge(whole) as MergeState | string);
    return typeof state === "string" ? state : "goes on";
  };

  test("are recognised by their joined text", () => {
    expect(merged(["a", "b"], "ab")).toBe("merged");
    expect(merged(["a", "b"], " a\nb ")).toBe("merged");
    expect(merged([" a", "b "], "a\nb")).toBe("merged");
    expect(merged(["a", "b", "c"], "a\n\nb\n\nc")).toBe("merged");
    expect(merged(["a\n\n", "b\n"], "a\nb")).toBe("merged");
    expect(merged(["a ", "b"], "a \nb")).toBe("merged");
    expect(merged(["a", "b"], "a b")).toBe("other");
    expect(merged(["a", "b", "c"], "ba")).toBe("other");
    expect(merged(["a", "b"], "a\nbc")).toBe("goes on");
    expect(merged(["ab"], "ab")).toBe("goes on");
  });

  test("are each read once, however many there are", () => {
    const parts = Array.from({ length: 49_999 }, () => "ab");
    const whole = "ab".repeat(50_000);
    expect([merged(parts, whole), merged([...parts, "ab"], whole)]).toEqual(["goes on", "merged"]);
  });
});

test("a text of the model with lines of ours has two forms", () => {
  expect(textForms("a\nb", isOwnLine)).toEqual(["a\nb"]);
  const text = "a\n[CONTEXT MANIFEST k7f3 x]\nPRIMACY 3\nb";
  expect(textForms(text, isOwnLine)).toEqual([text, "a\nb"]);
});
