import { instructions } from "../../src/notes/index.ts";
import { type ExactCounter, estimateText, loadO200k } from "../../src/tokens/index.ts";
import { recordingStreams } from "../../src/transcripts/index.ts";
import { readRecording, recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { type Conversation, conversationsOf } from "./conversation.ts";
import { farReferences } from "./far-references.ts";
import { pipelineTexts } from "./pipeline.ts";
import { type Score, scoreOf, sum, type TokenSizes, totalOf } from "./score.ts";

/**
 * Measures the notes about the context: their cost, and how often they name an identifier that the model
 * needs after a long time.
 */
export async function* awarenessCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const count = await loadO200k();
  const conversations: Conversation[] = [];
  const scores: Score[] = [];
  for (const name of recordingNames(folder)) {
    const recording = readRecording(name, folder);
    if (quick && recording.turns.length > quickTurnsMax) continue;
    const streams = recordingStreams(recording);
    for (const [at, conversation] of conversationsOf(recording, count).entries()) {
      const shown = await pipelineTexts(streams[at] ?? []);
      conversations.push(conversation);
      const score = scoreOf(conversation, { shown, count });
      scores.push(score);
      yield sessionCell(score);
    }
  }
  yield instructionsCell(count);
  yield* totalCells(scores, quick);
  yield* oracleCells(conversations, count);
}

/** The quick form skips longer sessions. */
const quickTurnsMax = 90;

function instructionsCell(count: ExactCounter): Cell {
  const text = instructions("k7f3", { hasTools: false });
  const claude = Math.round(estimateText(text, "claude-opus-5-5"));
  return {
    name: "instructions, tokens once in a stream",
    figure: count(text),
    boundMax: 300,
    unit: "",
    note: `Claude ~${claude}`,
  };
}

function sessionCell(score: Score): Cell {
  const { requests, content, headers, manifests, short, notes, far, named } = score;
  const note = [
    `${requests} requests, ${content.o200k} tokens of content (Claude ~${content.claude})`,
    `headers ${headers.o200k}, ${percent(headers, content)}`,
    `volatile carriers ${manifests.o200k}: ${mean(manifests, requests)} a turn, at most ${short.max} in short`,
    `permanent carriers ${notes.o200k}: ${mean(notes, requests)} a turn`,
    `far references ${far}: ${named.headers} in headers, ${named.manifests} in manifests`,
  ].join("; ");
  const figure = far === 0 ? 0 : (100 * named.all) / far;
  return { name: `${score.name}: far references named`, figure, boundMax: null, unit: "%", note };
}

/** With fewer references, as in the quick form, figures are chance: they are printed without a bound. */
const farReferencesMin = 100;

function* totalCells(scores: readonly Score[], quick: boolean): Generator<Cell> {
  const total = totalOf(scores, "all");
  const { requests, content, headers, manifests, short, detailed, notes, far, named } = total;
  const halves = [0, 1].map((half) =>
    totalOf(
      scores.filter((_, index) => index % 2 === half),
      "half",
    ),
  );
  const shares = halves.map((half) => `${Math.round((100 * half.named.all) / Math.max(1, half.far))} %`);
  const bound = (max: number): number | null => (quick || far < farReferencesMin ? null : max);
  yield {
    name: "headers, of all content",
    figure: (100 * headers.o200k) / content.o200k,
    boundMax: bound(1.5),
    unit: "%",
    note: `${headers.o200k} tokens of ${content.o200k}; ${percent(headers, content)}`,
  };
  yield {
    name: "manifest in short, tokens on average",
    figure: short.tokens / Math.max(1, short.count),
    boundMax: 120,
    unit: "",
    note: `of ${short.count}; with those in detail ${mean(manifests, requests)} over ${requests} requests`,
  };
  yield { name: "manifest in short, tokens at most", figure: short.max, boundMax: 200, unit: "", note: "" };
  yield {
    name: "manifest in detail, tokens at most",
    figure: detailed.max,
    boundMax: 500,
    unit: "",
    note: `of ${detailed.count}, at the start of an epoch`,
  };
  yield {
    name: "permanent carrier, tokens a turn",
    figure: notes.o200k / requests,
    boundMax: 25,
    unit: "",
    note: mean(notes, requests),
  };
  yield {
    name: "far references that are named nowhere",
    figure: far === 0 ? 0 : 100 - (100 * named.all) / far,
    boundMax: bound(40),
    unit: "%",
    note: `${named.all} of ${far} named (halves of the sessions: ${shares.join(", ")}); ${sourcesText(total)}`,
  };
}

function sourcesText({ sources, far }: Score): string {
  const shares = Object.entries(sources).map(
    ([kind, count]) => `${kind} ${Math.round((100 * count) / Math.max(1, far))} %`,
  );
  return `last copy in ${shares.join(", ")}`;
}

/** The best possible result: a manifest that knew the answer, limited to some names or tokens. */
function* oracleCells(conversations: readonly Conversation[], count: ExactCounter): Generator<Cell> {
  const turns = conversations.flatMap((conversation) =>
    farReferences(conversation).map((far) => far.map(({ name }) => count(` ${name}`)).sort((a, b) => a - b)),
  );
  const far = sum(turns.map((costs) => costs.length));
  const info = { boundMax: null, unit: "%", note: "" } as const;
  for (const names of [5, 10, 20]) {
    const hits = sum(turns.map((costs) => Math.min(names, costs.length)));
    yield {
      name: `  with foresight: ${names} names a turn`,
      figure: (100 * hits) / Math.max(1, far),
      ...info,
    };
  }
  for (const tokens of [30, 65]) {
    const hits = sum(turns.map((costs) => countFitting(costs, tokens)));
    yield {
      name: `  with foresight: ${tokens} tokens a turn`,
      figure: (100 * hits) / Math.max(1, far),
      ...info,
    };
  }
}

function countFitting(costs: readonly number[], tokensMax: number): number {
  let [left, hits] = [tokensMax, 0];
  for (const cost of costs) {
    left -= cost;
    if (left >= 0) hits += 1;
  }
  return hits;
}

function percent(part: TokenSizes, whole: TokenSizes): string {
  const of = (vocabulary: keyof TokenSizes): string =>
    `${((100 * part[vocabulary]) / whole[vocabulary]).toFixed(2)} %`;
  return `${of("o200k")} (Claude ~${of("claude")})`;
}

function mean(all: TokenSizes, requests: number): string {
  return `${(all.o200k / requests).toFixed(1)} (Claude ~${(all.claude / requests).toFixed(1)})`;
}
