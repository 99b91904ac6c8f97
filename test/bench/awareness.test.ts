// What the benchmark of awareness measures with is tested here; its figures come from recorded sessions.
import { expect, test } from "vitest";
import type { Conversation, Message } from "../../bench/awareness/conversation.ts";
import { conversationsOf } from "../../bench/awareness/conversation.ts";
import { farReferences } from "../../bench/awareness/far.ts";
import { pipelineTexts } from "../../bench/awareness/pipeline.ts";
import { scoreOf, totalOf } from "../../bench/awareness/score.ts";
import { identifiersIn, standingIn } from "../../src/analysis/index.ts";
import type { BlockKind } from "../../src/engine/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { streamsOf } from "../../src/transcripts/index.ts";
import { readRecording, recordingNames } from "../support/recordings.ts";
import { isLong } from "../support/runs.ts";

const count = (text: string): number => Math.ceil(text.length / 4);

function message(kind: BlockKind, text: string): Message {
  return { blocks: [{ kind, text, tokens: count(text) }] };
}

/** The result comes with the first request; the answers to all but the last have nothing of it. */
function conversation(requests: number, kept = requests): Conversation {
  return {
    name: "made up",
    model: null,
    requests: Array.from({ length: requests }, (_, index) => ({
      kept: index === kept ? 0 : index * 2,
      messages: [
        message(index === 0 ? "tool-result" : "user", index === 0 ? "see src/lib/read_config.ts" : "go on"),
      ],
      answer: message("assistant", index === requests - 1 ? "read_config.ts, of course" : "done"),
      timeMs: null,
    })),
  };
}

test("an identifier is a path, or a name in snake_case, camelCase, with dots or with numbers", () => {
  const text =
    "Open ./src/a_file.ts: call parseAll(), node.readAll, step2000 but not Something or well-known";
  expect([...identifiersIn(text)]).toEqual(["src/a_file.ts", "parseAll", "node.readAll", "step2000"]);
});

test("parts of a path stand where the path stands, parts of a word do not", () => {
  const standing = standingIn("in src/lib/read_config.ts");
  expect(standing.has("read_config.ts")).toBe(true);
  expect(standing.has("lib/read_config")).toBe(true);
  expect(standing.has("config.ts")).toBe(false);
});

test("a reference is far when the last copy lies ten requests back, and nearer copies end that", () => {
  expect(farReferences(conversation(11)).flat()).toEqual([
    { request: 10, name: "read_config.ts", distance: 10, source: "tool-result" },
  ]);
  expect(farReferences(conversation(10)).flat()).toEqual([]);
});

test("what the client dropped from its history is not referred to", () => {
  expect(farReferences(conversation(12, 8)).flat()).toEqual([]);
});

test("a reference is named where a manifest or a standing line has it, and nowhere else", () => {
  const shown = { written: [], standing: [], manifest: "", note: "" };
  const named = (last: Partial<typeof shown> | { readonly standing: readonly string[] }) =>
    scoreOf(conversation(11), {
      count,
      shown: Array.from({ length: 11 }, (_, index) => (index === 10 ? { ...shown, ...last } : shown)),
    }).named;
  expect(named({ manifest: "names lib/read_config.ts" })).toEqual({ all: 1, headers: 0, manifests: 1 });
  expect(named({ standing: ["[line; names read_config.ts]"] })).toEqual({ all: 1, headers: 1, manifests: 0 });
  expect(named({ manifest: "read_config" })).toEqual({ all: 0, headers: 0, manifests: 0 });
});

/** Carriers that keep what they are given are played for a few sessions, all of them in the long form. */
const names = recordingNames();
const isPermanent = (at: number): boolean => isLong || names.length < 10 || at % 5 === 4;
/** In a handful of short sessions everything is chance. */
const isSet = names.length >= 10;

test("on recorded sessions what is told keeps to its tokens, and names what is needed", {
  timeout: 600_000,
}, async () => {
  const counter = await loadO200k();
  const scores = [];
  const permanent = { requests: 0, tokens: 0 };
  for (const [at, name] of names.entries()) {
    const recording = readRecording(name);
    const [turns = []] = streamsOf(recording);
    const [talk] = conversationsOf(recording, counter);
    if (talk === undefined) continue;
    const shown = await pipelineTexts(turns, isPermanent(at) ? "both" : "volatile");
    const score = scoreOf(talk, { shown, count: counter });
    scores.push(score);
    if (isPermanent(at)) permanent.requests += score.requests;
    permanent.tokens += score.notes.o200k;
    // A stranger's eye: every line of ours is one line, and the tail is a manifest.
    for (const { written, manifest } of shown) {
      for (const line of written) expect(line).toMatch(/^\[k7f3 turn \d+, [^\n]*\]$/);
      expect(manifest).toMatch(/^\[CONTEXT MANIFEST k7f3 turn \d+ \|/);
    }
  }
  const { requests, content, headers, short, detailed, far, named } = totalOf(scores, "all");
  const shortMean = short.tokens / short.count;
  console.log(
    `${scores.length} sessions, ${requests} requests: headers ${((100 * headers.o200k) / content.o200k).toFixed(2)} %, ` +
      `manifest in short ${shortMean.toFixed(1)} (max ${short.max}), ${detailed.count} in detail (max ${detailed.max}), ` +
      `notes ${(permanent.tokens / permanent.requests).toFixed(1)} a turn, ${named.all} of ${far} far references named`,
  );
  expect(short.max).toBeLessThanOrEqual(200);
  expect(shortMean).toBeLessThanOrEqual(120);
  expect(detailed.max).toBeLessThanOrEqual(500);
  expect(permanent.tokens / permanent.requests).toBeLessThanOrEqual(25);
  if (!isSet) return;
  expect(headers.o200k / content.o200k).toBeLessThanOrEqual(0.015);
  expect(named.all / far).toBeGreaterThanOrEqual(0.6);
});
