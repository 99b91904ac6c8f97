// Everything a model may be shown, by name, with the golden file that shows it.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textsFolder } from "./note-texts.ts";
import { casesFolder, readManifests, readRequests, readSession } from "./session-file.ts";

type Shown = readonly [what: string, where: string, words: string | RegExp];

/** A text case by its name, a session by `session <name>`. */
function shownIn(where: string): string {
  const [, session] = /^session (.+)$/.exec(where) ?? [];
  if (session !== undefined) return [...readRequests(session), readManifests(session)].join("\n\n");
  return readFileSync(join(textsFolder, where, "text.txt"), "utf8");
}

/** What follows is the words that were agreed on, to the byte. */
const literals: readonly Shown[] = [
  ["the instructions", "instructions", "# Context notes\n"],
  [
    "the instructions, in front of all messages",
    "session plain-talk",
    "system    aperture {instructions with tools}",
  ],
  [
    "the compact header, with a pause",
    "header-compact",
    "[k7f3 turn 31, 14:05 +2h10m: message 12 #41..#44; #43 result ~4.2k until 51]\n",
  ],
  [
    "a pause, in a talk",
    "session pause",
    /\[k7f3 turn 3, 14:05 \+2h10m: messages 4\.\.7 #5\.\.#9; #7 result ~4\.2k until 22\]/,
  ],
  [
    "a line of headers behind results and in front of words",
    "session clearing-compact",
    /tool_result.*\n.*aperture.*\[k7f3 turn 5, .*\n.*Only the first page/,
  ],
  [
    "the full header of a message",
    "header-message",
    "--- Message ID: 12 | Role: user | From: client | Time: 2026-11-15T19:05:11Z | Tokens: ~812 | k7f3 ---\n",
  ],
  [
    "the full header of a part",
    "header-part",
    "[Part ID: 27 | Type: tool-result | Tokens: ~4210 | Turns Left: 20 at turn 31 (until turn 51) | k7f3]\n",
  ],
  [
    "a part header inside a result",
    "session clearing-full",
    /"tool_use_id":"c2","content":\[\{"type":"text","text":"\[Part ID: \d+ \| Type: tool-result \|/,
  ],
  ["a pinned message", "header-message-pinned", "| PINNED | k7f3 ---"],
  ["a pruned message", "header-message-pruned", "| PRUNED | k7f3 ---"],
  ["a pinned part", "header-part-pinned", "| PINNED | k7f3]"],
  ["a pruned part", "header-part-pruned", "| PRUNED | k7f3]"],
  [
    "a placeholder: header, reason, hint, the way back",
    "placeholder-full",
    /PRUNED \| Reason: stale tool output \| Hint: "npm test.*…" \| expand #27 \| k7f3\]/,
  ],
  [
    "a placeholder in one line",
    "placeholder-compact",
    /^\[k7f3 #27 result ~4\.2k pruned \(stale tool output\): ".*…" -> expand #27\]\n$/,
  ],
  ["a placeholder without a reason", "placeholder-no-reason", "(no reason given)"],
  ["pruned ranges", "ranges", "--- PRUNED MESSAGE RANGES ---"],
  [
    "a pruned range with its reasons and the count of signatures",
    "ranges",
    "- Messages ID: 10 to 25 are PRUNED | Reasons: {stale tool output, superseded reads} | Thought Signatures Preserved: 7\n",
  ],
  [
    "all ranges in the detailed manifest",
    "manifest-ranges",
    'PRUNED messages 10..25 ("stale tool output", 7 signatures), message 28',
  ],
  [
    "reasoning that is expanded, under a label",
    "reasoning-visible",
    /^\[k7f3 preserved reasoning #41, .*\]\n[^[]*\n\[k7f3 end of #41\]\n$/,
  ],
  [
    "reasoning of which there is only a signature",
    "reasoning-signature-only",
    "signature only, its text was never visible; the turn went on with",
  ],
  ["a note of what changed", "change-note", "[k7f3 turn 34: user pinned #31; #43 expires at 37; 60k free]\n"],
  ["a note of what changed, in a talk", "session selected-kept", "[k7f3 turn 5: user selected #7 #13; "],
  ["a note of what expires, in a talk", "session expiring-kept", "[k7f3 turn 19: #7 expires at 22; "],
  [
    "the line of hints",
    "offer",
    "[k7f3 hint: archived and maybe relevant: #12 auth flow ~1.2k, #27 db schema ~0.8k -> expand]\n",
  ],
  ["the user's selection", "selection-in-manifest", "[user-selected] #12 (auth flow) #27 (db schema)\n"],
  [
    "the user's selection, in a talk",
    "session selected",
    "[user-selected] #7 #13 | SINCE LAST TURN: user selected #7 #13",
  ],
  ["the manifest as XML", "manifest-detailed-xml", '<context-manifest mark=k7f3 about="turn 34 | 42 blocks'],
  ["the manifest as Markdown", "manifest-detailed-markdown", "### CONTEXT MANIFEST k7f3 turn 34 | 42 blocks"],
  [
    "the manifest where the fill is hidden",
    "manifest-hidden-fill",
    "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks]\n",
  ],
  [
    "a detailed manifest where an epoch starts",
    "session rewrite",
    /\[CONTEXT MANIFEST k7f3 turn 4 \|.*PRIMACY 3 blocks .*MIDDLE \d+ blocks/,
  ],
];

const detailed = [
  "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
  "PRIMACY 3 blocks 3.2k, pinned: system prompt 1.8k [pinned:top], architecture overview 0.8k [pinned:top], code standards 0.6k",
  "MIDDLE 34 blocks 128k: 12 user, 14 assistant, 8 tool | 6 trimmed, 2 summarized, 3 pending (-9k) | topics: auth.ts login flow, schema.sql, POST /sessions",
  'RECENCY 5 blocks 8.4k: task "implement feature X" | [user-selected] #12 (auth flow) #27 (db schema)',
  "COLD 12 blocks 61k: project setup, dependency decisions -> aperture_recall",
  "EXPIRING #43 at 37, #45 at 38 | CANDIDATES #18..#22 test output 9.8k (never used since 24)",
  'SINCE LAST TURN: you archived #3..#9 (-6.2k, "setup done"); user pinned #31; #29 superseded by #41',
  // Lowered blocks are not all summaries, so they are called what they are.
  "BUDGET 60k free, safe to expand ~3 compressed blocks",
];
const summary = [
  "[CONTEXT MANIFEST k7f3 turn 34 | 42 blocks | 140k/200k tokens, 70%]",
  "PRIMACY 3 3.2k | MIDDLE 34 128k, 3 pending (-9k): auth.ts, schema.sql | RECENCY 5 8.4k | COLD 12 61k",
  "[user-selected] #12 #27 | EXPIRING #43 at 37 | SINCE LAST TURN: user pinned #31 | BUDGET 60k free",
];

/** What metadata in the conversation itself is to give a model. */
const promises: readonly Shown[] = [
  ["temporal context: when it was said", "session clearing-full", /Time: 2026-11-15T14:05:11Z/],
  ["temporal context: how much time has passed", "session pause", "+2h10m"],
  ["temporal context: another day", "session pause", "2026-11-16 16:09 UTC +1d2h"],
  ["resource management: what was pruned, and why", "placeholder-compact", "pruned (stale tool output)"],
  [
    "resource management: who archived what, and why",
    "session acts",
    'user archived #5..#7 (-0.2k, \\"the list is old\\")',
  ],
  ["reasoning continuity: thoughts of pruned messages", "ranges", "Thought Signatures Preserved: 7"],
  [
    "reasoning continuity: its own thoughts, brought back",
    "reasoning-range",
    "[k7f3 preserved reasoning #41, message 12, turn 30]",
  ],
  [
    "token economy: what a part costs and how long it stays",
    "session clearing-full",
    /Tokens: ~\d+ \| Turns Left: \d+ at turn \d+ \(until turn \d+\)/,
  ],
  [
    "token economy: what is used and what is left",
    "session clearing-compact",
    /tokens, \d+%\].*BUDGET ~\d+k free/,
  ],
  [
    "message headers",
    "session clearing-full",
    /--- Message ID: \d+ \| Role: user \| From: client \| Time: \S+ \| Tokens: ~\d+ \| k7f3 ---/,
  ],
  [
    "message headers of what the model said",
    "session clearing-full",
    /--- Message ID: \d+ \| Role: assistant \| From: model \|/,
  ],
  ["part headers: a text", "session clearing-full", /\[Part ID: \d+ \| Type: user \|/],
  ["part headers: a blob", "session clearing-full", /\[Part ID: \d+ \| Type: media \|/],
  ["part headers: a tool call", "session clearing-full", /\[Part ID: \d+ \| Type: tool-call \|/],
  ["part headers: a tool response", "session clearing-full", /\[Part ID: \d+ \| Type: tool-result \|/],
  ["pruned: the reason is in the header", "placeholder-full", "| PRUNED | Reason: stale tool output |"],
  ["pruned: a semantic hint is in the header", "placeholder-full", /Hint: "npm test/],
  ["pruned: thought signatures are preserved", "reasoning-signature-only", "preserved reasoning #41"],
  [
    "ranges: one block for neighbouring messages",
    "ranges-many",
    /Messages ID: 3 to 9 are PRUNED .*\n- Messages ID: 14 to 14/,
  ],
];

function expectShown([, where, words]: Shown): void {
  const text = shownIn(where);
  if (typeof words === "string") expect(text).toContain(words);
  else expect(text).toMatch(words);
}

describe("what was agreed on is shown", () => {
  test.each(literals.map((shown) => [shown[0], shown] as const))("%s", (_, shown) => expectShown(shown));

  test.each([
    ["the manifest in detail", "manifest-detailed", detailed],
    ["the manifest in short", "manifest-summary", summary],
  ] as const)("%s", (_, where, lines) => {
    expect(shownIn(where).trimEnd().split("\n")).toEqual(lines);
  });
});

describe("what a model is to be aware of is shown", () => {
  test.each(promises.map((shown) => [shown[0], shown] as const))("%s", (_, shown) => expectShown(shown));
});

test("there are at least forty sessions, and each says what it shows", () => {
  const names = readdirSync(casesFolder);
  expect(names.length).toBeGreaterThanOrEqual(40);
  const abouts = names.map((name) => readSession(name).about);
  expect(abouts.filter((about) => about.length < 20)).toEqual([]);
  expect(new Set(abouts).size).toBe(names.length);
});
