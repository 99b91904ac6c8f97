import { type Counter, loadO200k } from "../../src/tokens/index.ts";
import { readRecording, recordingNames, recordingsFolder } from "../../test/support/recordings.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { type Conversation, conversationsOf } from "./conversation.ts";
import { farReferences } from "./far.ts";
import { type Score, type Sized, scoreOf, sum, totalOf } from "./score.ts";
import { proposedRule, simulatedTexts } from "./simulated.ts";

/**
 * What the model is told about its context, what that costs, and how often the name it needs after a long
 * time stands there.
 */
export async function* awarenessCells({ data }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const count = await loadO200k();
  const texts = simulatedTexts(count);
  const conversations: Conversation[] = [];
  const scores: Score[] = [];
  for (const name of recordingNames(folder)) {
    for (const conversation of conversationsOf(readRecording(name, folder), count)) {
      conversations.push(conversation);
      const score = scoreOf(conversation, { texts, count });
      scores.push(score);
      yield sessionCell(score);
    }
  }
  yield* totalCells(scores);
  yield estimatedCell(conversations, count);
  yield* oracleCells(conversations, count);
}

function sessionCell(score: Score): Cell {
  const { requests, content, headers, manifests, manifestMax, notes, far, named } = score;
  const note = [
    `${requests} requests, ${content.o200k} tokens of content (Claude ~${content.claude})`,
    `headers ${headers.o200k}, ${percent(headers, content)}`,
    `manifest ${mean(manifests, requests)}, max ${manifestMax}`,
    `permanent notes ${mean(notes, requests)} a turn`,
    `far references ${far}: ${named.headers} in headers, ${named.manifests} in manifests`,
  ].join("; ");
  const figure = far === 0 ? 0 : (100 * named.all) / far;
  return { name: `${score.name}: far references named`, figure, boundMax: null, unit: "%", note };
}

/** In a handful of short sessions everything is chance: there the figures are told, but not judged. */
const farReferencesMin = 100;

function* totalCells(scores: readonly Score[]): Generator<Cell> {
  const total = totalOf(scores, "all");
  const { requests, content, headers, manifests, notes, far, named } = total;
  const halves = [0, 1].map((half) =>
    totalOf(
      scores.filter((_, index) => index % 2 === half),
      "half",
    ),
  );
  const shares = halves.map((half) => `${Math.round((100 * half.named.all) / Math.max(1, half.far))} %`);
  const bound = (max: number): number | null => (far < farReferencesMin ? null : max);
  yield {
    name: "headers, of all content",
    figure: (100 * headers.o200k) / content.o200k,
    boundMax: bound(1.5),
    unit: "%",
    note: `${headers.o200k} tokens of ${content.o200k}; ${percent(headers, content)}`,
  };
  yield {
    name: "manifest, tokens on average",
    figure: manifests.o200k / requests,
    boundMax: 120,
    unit: "",
    note: `${mean(manifests, requests)} over ${requests} requests`,
  };
  yield { name: "manifest, tokens at most", figure: total.manifestMax, boundMax: 200, unit: "", note: "" };
  yield {
    name: "notes of a permanent carrier, tokens a turn",
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

/** Where no vocabulary is loaded, prices are a little wrong, and what looks cheap is taken too often. */
function estimatedCell(conversations: readonly Conversation[], count: Counter): Cell {
  const texts = simulatedTexts(count, { ...proposedRule, isExact: false });
  const { far, named, headers, content, manifests, manifestMax, requests } = totalOf(
    conversations.map((conversation) => scoreOf(conversation, { texts, count })),
    "estimated",
  );
  return {
    name: "  the same with names priced by estimate",
    figure: far === 0 ? 0 : 100 - (100 * named.all) / far,
    boundMax: null,
    unit: "%",
    note: `headers ${percent(headers, content)}; manifest ${mean(manifests, requests)}, max ${manifestMax}`,
  };
}

function sourcesText({ sources, far }: Score): string {
  const shares = Object.entries(sources).map(
    ([kind, count]) => `${kind} ${Math.round((100 * count) / Math.max(1, far))} %`,
  );
  return `last copy in ${shares.join(", ")}`;
}

/** What could be reached at best: by a manifest that knew the answer, of so many names or tokens. */
function* oracleCells(conversations: readonly Conversation[], count: Counter): Generator<Cell> {
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
    const hits = sum(turns.map((costs) => fitting(costs, tokens)));
    yield {
      name: `  with foresight: ${tokens} tokens a turn`,
      figure: (100 * hits) / Math.max(1, far),
      ...info,
    };
  }
}

function fitting(costs: readonly number[], tokensMax: number): number {
  let [left, hits] = [tokensMax, 0];
  for (const cost of costs) {
    left -= cost;
    if (left >= 0) hits += 1;
  }
  return hits;
}

function percent(part: Sized, whole: Sized): string {
  const of = (vocabulary: keyof Sized): string =>
    `${((100 * part[vocabulary]) / whole[vocabulary]).toFixed(2)} %`;
  return `${of("o200k")} (Claude ~${of("claude")})`;
}

function mean(all: Sized, requests: number): string {
  return `${(all.o200k / requests).toFixed(1)} (Claude ~${(all.claude / requests).toFixed(1)})`;
}
