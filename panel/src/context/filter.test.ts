import { describe, expect, it } from "vitest";
import type { BlockRow } from "../api/contract.ts";
import { filterOf, passes } from "./filter.ts";

const block = {
  n: 27,
  zone: "cold",
  kind: "tool-result",
  origin: "tool",
  speaker: "Read",
  topic: "db schema",
  level: "trimmed",
  shown: "placeholder",
  state: "archived",
  tokens: 2_400,
  pinned: true,
  turn: 3,
} as BlockRow;
const context = { turn: 10, label: "read src/db/schema.sql" };
const isMatch = (text: string): boolean => passes(filterOf(text), block, context);

describe("the block filter", () => {
  it.each([
    "",
    "zone:cold",
    "kind:tool",
    "role:tool",
    "level:trim",
    "state:archived",
    "pinned:yes",
    "tokens:>2k",
    "tokens:<2.5k",
    "age:>5t",
    'topic:"read src/db"',
    "schema.SQL",
    "#27",
    "zone:any kind:any",
    "zone:cold pinned:yes tokens:2400",
  ])("%s matches", (text) => expect(isMatch(text)).toBe(true));

  it.each([
    "zone:middle",
    "pinned:no",
    "tokens:>3k",
    "age:>7",
    "nothing of it",
    '"db schema"',
    "zone:cold pinned:no",
  ])("%s does not match", (text) => expect(isMatch(text)).toBe(false));

  it("searches the text of the topic column and reports when it needs labels", () => {
    const other = { ...context, label: "npm test" };
    expect(["schema", "topic:schema", "npm"].map((text) => passes(filterOf(text), block, other))).toEqual([
      false,
      false,
      true,
    ]);
    expect(
      ["", "zone:cold", "topic:any", "npm", "topic:npm"].map((text) => filterOf(text).needsLabels),
    ).toEqual([false, false, false, true, true]);
  });

  it("reports unknown conditions", () => {
    expect(filterOf("colour:red tokens:many pinned:maybe").problems).toEqual([
      "colour:red",
      "tokens:many",
      "pinned:maybe",
    ]);
  });
});
