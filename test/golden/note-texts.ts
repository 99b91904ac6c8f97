import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ManifestFacts, PrunedRange } from "../../src/awareness/index.ts";
import type { SelectedBlock } from "../../src/awareness/manifest-facts.ts";
import {
  changeNote,
  compactHeader,
  type HeaderBlock,
  type HeaderMessage,
  type HeaderMode,
  hintOf,
  instructions,
  type ManifestOptions,
  manifestText,
  messageHeader,
  type Offer,
  offerLine,
  partHeader,
  placeholder,
  reasoningText,
  type TurnHeader,
} from "../../src/notes/index.ts";
import { writeSelectedField } from "../../src/notes/manifest-note.ts";
import { rangeText } from "../../src/notes/range.ts";
import type { StoredReasoning } from "../../src/notes/reasoning.ts";
import { selectionLine, shownSelected } from "../../src/notes/selection.ts";
import { detailed, nonce, shownFacts } from "../support/render-facts.ts";

/** One text of ours and what it is made from, as it stands in `facts.json`. */
export type GoldenText = {
  readonly about: string;
  readonly text: Name;
  readonly given: unknown;
};

export const textsFolder = "test/golden/texts";

export function readText(name: string): GoldenText {
  return JSON.parse(readFileSync(join(textsFolder, name, "facts.json"), "utf8")) as GoldenText;
}

/** What is not said at all is shown as that. */
export function goldenText({ text, given }: GoldenText): string {
  return `${writers[text](given as never) ?? "(nothing is said)"}\n`;
}

/** A moment in a conversation; a time is written as people write it. */
type Headed = Omit<TurnHeader, "nonce" | "timeMs"> & { readonly time: string };
type PlaceholderGiven = {
  readonly turn: number;
  readonly mode: HeaderMode;
  readonly block: HeaderBlock;
  readonly reason: string | null;
  /** The content that was pruned. */
  readonly content: string;
  readonly isKept?: boolean;
  readonly see?: number;
};
/** Over the context and the options that the documentation shows. */
type ManifestGiven = {
  readonly options?: Partial<ManifestOptions>;
  readonly facts?: Partial<ManifestFacts>;
};

function turnHeader({ time, ...rest }: Headed): TurnHeader {
  return { ...rest, nonce, timeMs: Date.parse(time) };
}

function manifestOf({ options = {}, facts = {} }: ManifestGiven): [ManifestFacts, ManifestOptions] {
  return [
    { ...shownFacts, ...facts },
    { ...detailed, ...options },
  ];
}

const writers = {
  instructions: (given: { readonly hasTools: boolean }) => instructions(nonce, given),
  "compact header": (given: Headed) => compactHeader(turnHeader(given)),
  "message header": (given: Headed & { readonly message: HeaderMessage }) =>
    messageHeader(turnHeader(given), given.message),
  "part header": ({ turn, block }: { readonly turn: number; readonly block: HeaderBlock }) =>
    partHeader({ nonce, turn }, block),
  placeholder: ({ turn, mode, content, see, ...pruned }: PlaceholderGiven) =>
    placeholder({ nonce, turn, mode }, { ...pruned, hint: hintOf(content) }, see ?? null),
  ranges: (given: readonly PrunedRange[]) => rangeText(nonce, given),
  reasoning: (given: readonly StoredReasoning[]) => reasoningText(nonce, given),
  manifest: (given: ManifestGiven) => manifestText(...manifestOf(given)),
  "change note": (given: ManifestGiven) => changeNote(...manifestOf(given)),
  offer: (given: readonly Offer[]) => offerLine(nonce, given),
  "selection in a manifest": (given: readonly SelectedBlock[]) =>
    given.length === 0
      ? null
      : writeSelectedField({ selected: given.map((one) => shownSelected(nonce, one)), more: 0 }),
  "selection as a sentence": (given: readonly SelectedBlock[]) => selectionLine(nonce, given),
} as const;

type Name = keyof typeof writers;
