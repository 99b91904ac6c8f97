import { namesInText } from "../../src/analysis/play/identifiers.ts";
import type { BlockKind } from "../../src/engine/frames/index.ts";
import { type ExactCounter, estimateText } from "../../src/tokens/index.ts";
import type { Conversation } from "./conversation.ts";
import { type FarReference, farReferences } from "./far-references.ts";
import type { ShownTexts } from "./shown-texts.ts";

/** Tokens by the o200k vocabulary, and for a Claude model by our estimate. */
export type TokenSizes = { readonly o200k: number; readonly claude: number };

export type Score = {
  readonly name: string;
  readonly requests: number;
  readonly content: TokenSizes;
  readonly headers: TokenSizes;
  /** All manifests together. */
  readonly manifests: TokenSizes;
  /** Short manifests; `detailed` are those at the start of an epoch. */
  readonly short: Lengths;
  readonly detailed: Lengths;
  /** All notes of a permanent carrier, without headers. */
  readonly notes: TokenSizes;
  readonly far: number;
  readonly named: { readonly all: number; readonly headers: number; readonly manifests: number };
  readonly sources: Readonly<Partial<Record<BlockKind, number>>>;
};

export type Lengths = { readonly count: number; readonly tokens: number; readonly max: number };

export type ScoreInput = { readonly shown: readonly ShownTexts[]; readonly count: ExactCounter };

const claudeModel = "claude-opus-4-5";

export function scoreOf(conversation: Conversation, { shown, count }: ScoreInput): Score {
  const far = farReferences(conversation);
  const model = conversation.model?.startsWith("claude") ? conversation.model : claudeModel;
  const size = (all: readonly string[]): TokenSizes => ({
    o200k: sum(all.map(count)),
    claude: sum(all.map((text) => (text === "" ? 0 : estimateText(text, model)))),
  });
  const manifests = shown.map(({ manifest }) => manifest);
  return {
    name: conversation.name,
    requests: conversation.requests.length,
    content: contentOf(conversation, model),
    headers: size(shown.flatMap(({ written }) => written)),
    manifests: size(manifests),
    short: lengthsOf(manifests.filter((manifest) => !isDetailed(manifest)).map(count)),
    detailed: lengthsOf(manifests.filter(isDetailed).map(count)),
    notes: size(shown.map(({ note }) => note)),
    far: far.flat().length,
    named: namedIn(far, shown),
    sources: sourcesOf(far.flat()),
  };
}

export function totalOf(scores: readonly Score[], name: string): Score {
  const sized = (of: (score: Score) => TokenSizes): TokenSizes => ({
    o200k: sum(scores.map((score) => of(score).o200k)),
    claude: sum(scores.map((score) => of(score).claude)),
  });
  const kinds = [...new Set(scores.flatMap(({ sources }) => Object.keys(sources) as BlockKind[]))];
  return {
    name,
    requests: sum(scores.map(({ requests }) => requests)),
    content: sized(({ content }) => content),
    headers: sized(({ headers }) => headers),
    manifests: sized(({ manifests }) => manifests),
    short: sumLengths(scores.map(({ short }) => short)),
    detailed: sumLengths(scores.map(({ detailed }) => detailed)),
    notes: sized(({ notes }) => notes),
    far: sum(scores.map(({ far }) => far)),
    named: {
      all: sum(scores.map(({ named }) => named.all)),
      headers: sum(scores.map(({ named }) => named.headers)),
      manifests: sum(scores.map(({ named }) => named.manifests)),
    },
    sources: Object.fromEntries(
      kinds.map((kind) => [kind, sum(scores.map(({ sources }) => sources[kind] ?? 0))]),
    ),
  };
}

/** In a detailed manifest each zone has its own line, which counts blocks. */
function isDetailed(manifest: string): boolean {
  return /^PRIMACY \d+ blocks?\b/m.test(manifest);
}

function lengthsOf(tokens: readonly number[]): Lengths {
  return { count: tokens.length, tokens: sum(tokens), max: Math.max(0, ...tokens) };
}

function sumLengths(all: readonly Lengths[]): Lengths {
  return {
    count: sum(all.map(({ count }) => count)),
    tokens: sum(all.map(({ tokens }) => tokens)),
    max: Math.max(0, ...all.map(({ max }) => max)),
  };
}

function contentOf({ requests }: Conversation, model: string): TokenSizes {
  const blocks = requests.flatMap(({ messages, answer }) =>
    [...messages, answer].flatMap((one) => one.blocks),
  );
  return {
    o200k: sum(blocks.map(({ tokens }) => tokens)),
    claude: sum(blocks.map(({ text }) => estimateText(text, model))),
  };
}

type References = readonly (readonly FarReference[])[];

function namedIn(far: References, shown: readonly ShownTexts[]): Score["named"] {
  const lines = new Map<string, ReadonlySet<string>>();
  const inLine = (line: string): ReadonlySet<string> => {
    const names = lines.get(line) ?? namesInText(line);
    lines.set(line, names);
    return names;
  };
  let [all, headers, manifests] = [0, 0, 0];
  for (const [request, references] of far.entries()) {
    const { standing, manifest } = shown[request] as ShownTexts;
    const inManifest = namesInText(manifest);
    for (const { name } of references) {
      const isInHeader = standing.some((line) => inLine(line).has(name));
      headers += isInHeader ? 1 : 0;
      manifests += inManifest.has(name) ? 1 : 0;
      all += isInHeader || inManifest.has(name) ? 1 : 0;
    }
  }
  return { all, headers, manifests };
}

function sourcesOf(far: readonly FarReference[]): Score["sources"] {
  const counts: Partial<Record<BlockKind, number>> = {};
  for (const { source } of far) counts[source] = (counts[source] ?? 0) + 1;
  return counts;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
