import { describe, expect, it } from "vitest";
import { deltaExamples, exampleBlock, exampleUnit } from "../../../test/support/delta-examples.ts";
import { hashContent } from "../../base/index.ts";
import { deltaContents, deltaTypes } from "./delta.ts";
import { factNames } from "./facts.ts";

describe("the types of deltas", () => {
  it("are listed once each, and the list is complete", () => {
    expect(new Set(deltaTypes)).toEqual(new Set(Object.keys(deltaExamples)));
    expect(new Set(deltaTypes).size).toBe(deltaTypes.length);
  });

  it("are named by a noun and a past participle", () => {
    for (const type of deltaTypes) {
      expect(type).toMatch(
        /^[a-z]+-(opened|identified|closed|reserved|started|added|removed|purged|counted|set|sent|answered|asked|decided)$/,
      );
    }
  });

  it("include one for every fact of a view", () => {
    expect(deltaTypes).toEqual(expect.arrayContaining(factNames.map((fact) => `${fact}-set`)));
  });
});

describe("deltaContents", () => {
  const { content } = exampleBlock;
  const [old, fresh] = [hashContent("old"), hashContent("fresh")];
  const tokens = { count: 1, exact: true };
  const rendition = deltaExamples["rendition-set"];

  it.each([
    ["a block that is added", deltaExamples["block-added"], [content]],
    ["a block that is removed, for it may come back", deltaExamples["block-removed"], [content]],
    ["the bytes of a unit", deltaExamples["unit-sent"], [exampleUnit.bytes]],
    ["a first rendition", { ...rendition, from: null, to: { content: fresh, tokens } }, [fresh]],
    [
      "the rendition before, for undo",
      { ...rendition, from: { content: old, tokens }, to: { content: fresh, tokens } },
      [old, fresh],
    ],
    ["a rendition that is taken back", { ...rendition, from: { content: old, tokens }, to: null }, [old]],
  ] as const)("names the content of %s", (_, delta, hashes) => {
    expect(deltaContents(delta)).toEqual(hashes);
  });

  it("returns every content hash of a delta, so that gc drops nothing that is needed", () => {
    for (const delta of Object.values(deltaExamples)) {
      const held = JSON.stringify(delta).match(/"[0-9a-f]{64}"/g) ?? [];
      expect([...deltaContents(delta)].sort(), delta.type).toEqual(
        held.map((text) => text.slice(1, -1)).sort(),
      );
    }
  });
});
