import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { judge } from "./acceptance/acceptance.ts";
import { costOf } from "./cost.ts";
import { extract, judgedExtract } from "./extract.ts";

const text = `I looked at the upload form yesterday and talked to some people about it.
It was a nice day. We drank coffee. Uploads over 25 MB fail with error E_TOO_LARGE in src/upload/limit.ts.
You must never raise the limit without asking the hosting team. Everybody was friendly.
The weather is supposed to be fine tomorrow as well. We decided to show the limit next to the button.
Do not change the public endpoint /api/upload until version 3 is out. That is all for now.`;

const source = { kind: "assistant", text } as const;

describe("an extract", () => {
  test("keeps what binds, what was decided and what failed, in order", () => {
    const kept = extract(source, 75);
    expect(kept.split(/\n| … /)).toEqual([
      "Uploads over 25 MB fail with error E_TOO_LARGE in src/upload/limit.ts.",
      "You must never raise the limit without asking the hosting team.",
      "We decided to show the limit next to the button.",
      "Do not change the public endpoint /api/upload until version 3 is out.",
    ]);
  });

  test("is the same each time, and no longer than it may be", () => {
    for (const max of [0, 1, 10, 30, 75, 1_000]) {
      expect(costOf(extract(source, max))).toBeLessThanOrEqual(max + 1);
      expect(extract(source, max)).toBe(extract(source, max));
    }
    expect(extract({ kind: "user", text: "" }, 100)).toBe("");
  });

  test("leaves out what says nothing new", () => {
    const log = `${"connection to db-1 timed out\n".repeat(50)}connection to db-2 was refused\n`;
    expect(extract({ kind: "tool-result", text: log }, 60)).toBe(
      "connection to db-1 timed out\nconnection to db-2 was refused",
    );
  });

  test("consists of pieces of its source, and is accepted as its summary", () => {
    const word = fc.constantFrom(
      "the job",
      "fails",
      "must not",
      "run",
      "at 20 MB",
      "src/a.ts",
      "only",
      "readAll",
      "files",
    );
    const sentence = fc.array(word, { minLength: 2, maxLength: 8 }).map((words) => `${words.join(" ")}.`);
    fc.assert(
      fc.property(fc.array(sentence, { maxLength: 12 }), fc.constantFrom(" ", "\n"), (sentences, joint) => {
        const whole = sentences.map((one) => one.charAt(0).toUpperCase() + one.slice(1)).join(joint);
        const kept = extract({ kind: "user", text: whole }, 60);
        for (const piece of kept.split(/\n| … /)) expect(whole).toContain(piece);
        const all = extract({ kind: "user", text: whole }, 10_000);
        expect(judge(whole, all).reasons).toEqual([]);
        const judged = judgedExtract({ kind: "user", text: whole }, 60);
        expect(judged).toEqual({ summary: kept, judgement: judge(whole, kept) });
      }),
    );
  });
});
