import { standingIn } from "../../src/analysis/index.ts";
import type { BlockKind } from "../../src/engine/index.ts";
import { type Counter, estimateText } from "../../src/tokens/index.ts";
import type { Conversation } from "./conversation.ts";
import { type FarReference, farReferences } from "./far.ts";
import type { Shown } from "./texts.ts";

/** Tokens as one vocabulary counts them, and as a Claude model would by our estimate. */
export type Sized = { readonly o200k: number; readonly claude: number };

export type Score = {
  readonly name: string;
  readonly requests: number;
  readonly content: Sized;
  readonly headers: Sized;
  /** Of all manifests together. */
  readonly manifests: Sized;
  /** Those in short, and those in detail that an epoch begins with. */
  readonly short: Lengths;
  readonly detailed: Lengths;
  /** Of all that a carrier which keeps everything would be given: headers not included. */
  readonly notes: Sized;
  readonly far: number;
  readonly named: { readonly all: number; readonly headers: number; readonly manifests: number };
  readonly sources: Readonly<Partial<Record<BlockKind, number>>>;
};

export type Lengths = { readonly count: number; readonly tokens: number; readonly max: number };

export type Measure = { readonly shown: readonly Shown[]; readonly count: Counter };

const claudeModel = "claude-opus-4-5";

export function scoreOf(conversation: Conversation, { shown, count }: Measure): Score {
  const far = farReferences(conversation);
  const model = conversation.model?.startsWith("claude") ? conversation.model : claudeModel;
  const size = (all: readonly string[]): Sized => ({
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
  const sized = (of: (score: Score) => Sized): Sized => ({
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
    short: together(scores.map(({ short }) => short)),
    detailed: together(scores.map(({ detailed }) => detailed)),
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

/** In detail a zone has a line of its own, and says that it counts blocks. */
function isDetailed(manifest: string): boolean {
  return /^PRIMACY \d+ blocks?\b/m.test(manifest);
}

function lengthsOf(tokens: readonly number[]): Lengths {
  return { count: tokens.length, tokens: sum(tokens), max: Math.max(0, ...tokens) };
}

function together(all: readonly Lengths[]): Lengths {
  return {
    count: sum(all.map(({ count }) => count)),
    tokens: sum(all.map(({ tokens }) => tokens)),
    max: Math.max(0, ...all.map(({ max }) => max)),
  };
}

function contentOf({ requests }: Conversation, model: string): Sized {
  const blocks = requests.flatMap(({ messages, answer }) =>
    [...messages, answer].flatMap((one) => one.blocks),
  );
  return {
    o200k: sum(blocks.map(({ tokens }) => tokens)),
    claude: sum(blocks.map(({ text }) => estimateText(text, model))),
  };
}

type References = readonly (readonly FarReference[])[];

function namedIn(far: References, shown: readonly Shown[]): Score["named"] {
  const lines = new Map<string, ReadonlySet<string>>();
  const inLine = (line: string): ReadonlySet<string> => {
    const names = lines.get(line) ?? standingIn(line);
    lines.set(line, names);
    return names;
  };
  let [all, headers, manifests] = [0, 0, 0];
  for (const [request, references] of far.entries()) {
    const { standing, manifest } = shown[request] as Shown;
    const inManifest = standingIn(manifest);
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
