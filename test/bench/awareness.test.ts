// Tests of the awareness benchmark's measurements, and its figures on recorded sessions.
import { expect, test } from "vitest";
import {
  type Conversation,
  type ConversationMessage,
  conversationsOf,
} from "../../bench/awareness/conversation.ts";
import { farReferences } from "../../bench/awareness/far-references.ts";
import { pipelineTexts } from "../../bench/awareness/pipeline.ts";
import { type Score, scoreOf, totalOf } from "../../bench/awareness/score.ts";
import type { ShownTexts } from "../../bench/awareness/shown-texts.ts";
import { identifiersIn, namesInText } from "../../src/analysis/play/identifiers.ts";
import { must } from "../../src/base/index.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import { loadO200k } from "../../src/tokens/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import { hasLargeSet, readRecording, recordingNames } from "../support/recordings.ts";
import { isLong } from "../support/runs.ts";

const count = (text: string): number => Math.ceil(text.length / 4);

function message(kind: BlockKind, text: string): ConversationMessage {
  return { blocks: [{ kind, text, tokens: count(text) }] };
}

/** A conversation whose first request has a result, and only the last answer uses a name of it. */
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

test("parts of a path are names in the text, parts of a word are not", () => {
  const names = namesInText("in src/lib/read_config.ts");
  expect(names.has("read_config.ts")).toBe(true);
  expect(names.has("lib/read_config")).toBe(true);
  expect(names.has("config.ts")).toBe(false);
});

test("a reference is far if the last copy is ten requests old", () => {
  expect(farReferences(conversation(11)).flat()).toEqual([
    { request: 10, name: "read_config.ts", distance: 10, source: "tool-result" },
  ]);
  expect(farReferences(conversation(10)).flat()).toEqual([]);
});

test("a name that the client dropped from its history is no far reference", () => {
  expect(farReferences(conversation(12, 8)).flat()).toEqual([]);
});

test("a reference is named if the manifest or a header has it", () => {
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

/** Permanent carriers are played for a few sessions, in the long form for all of them. */
const names = recordingNames();
const isPermanent = (at: number): boolean => isLong || names.length < 10 || at % 5 === 4;

type PlayedScores = {
  readonly scores: readonly Score[];
  readonly shown: readonly ShownTexts[];
  /** The requests that were played with a permanent carrier, and the tokens of their notes. */
  readonly permanent: { readonly requests: number; readonly tokens: number };
};

async function playRecordings(): Promise<PlayedScores> {
  const counter = await loadO200k();
  const scores: Score[] = [];
  const all: ShownTexts[] = [];
  const permanent = { requests: 0, tokens: 0 };
  for (const [at, name] of names.entries()) {
    const recording = readRecording(name);
    const [turns = []] = recordingStreams(recording);
    const main = must(conversationsOf(recording, counter)[0], "a recording has a main stream");
    const shown = await pipelineTexts(turns, isPermanent(at) ? "both" : "volatile");
    const score = scoreOf(main, { shown, count: counter });
    scores.push(score);
    all.push(...shown);
    if (isPermanent(at)) permanent.requests += score.requests;
    permanent.tokens += score.notes.o200k;
  }
  return { scores, shown: all, permanent };
}

let playing: Promise<PlayedScores> | null = null;
/** The recordings are played once for both tests. */
function playedScores(): Promise<PlayedScores> {
  playing ??= playRecordings();
  return playing;
}

/** In the three short sessions of the repository headers weigh more. */
const headerShareMax = hasLargeSet ? 0.015 : 0.025;

test("on recorded sessions notes have the right form and keep to their tokens", async () => {
  const { scores, shown, permanent } = await playedScores();
  expect(scores.length).toBe(names.length);
  expect(scores.length).toBeGreaterThan(0);
  for (const { written, manifest } of shown) {
    for (const line of written) expect(line).toMatch(/^\[k7f3 turn \d+, [^\n]*\]$/);
    expect(manifest).toMatch(/^\[CONTEXT MANIFEST k7f3 turn \d+ \|/);
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
  expect(headers.o200k / content.o200k).toBeLessThanOrEqual(headerShareMax);
});

test("on recorded sessions most far references are named", async (context) => {
  if (!hasLargeSet) context.skip("needs the large set of recordings; see docs/reference/recordings.md");
  const { far, named } = totalOf((await playedScores()).scores, "all");
  expect(far).toBeGreaterThan(0);
  expect(named.all / far).toBeGreaterThanOrEqual(0.6);
});
