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
const holds = (text: string): boolean => passes(filterOf(text), block, 10);

describe("the filter of the list", () => {
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
    'topic:"db schema"',
    "schema",
    "#27",
    "zone:any kind:any",
    "zone:cold pinned:yes tokens:2400",
  ])("%s holds", (text) => expect(holds(text)).toBe(true));

  it.each(["zone:middle", "pinned:no", "tokens:>3k", "age:>7", "nothing of it", "zone:cold pinned:no"])(
    "%s does not",
    (text) => expect(holds(text)).toBe(false),
  );

  it("says what it does not know", () => {
    expect(filterOf("colour:red tokens:many pinned:maybe").problems).toEqual([
      "colour:red",
      "tokens:many",
      "pinned:maybe",
    ]);
  });
});
