import { SeenLines, type SeenRun } from "../levels/index.ts";
import { AppendList } from "./append-list.ts";

/** The text of a result as it was first shown, and its runs of lines that an earlier block has. */
export type ShownText = { readonly block: number; readonly text: string; readonly runs: readonly SeenRun[] };

/** A text, and whether its block ever referred to others. No block refers to such a block. */
type AddedText = ShownText & { readonly isBorrower: boolean };

/** The lines of the first `count` texts. */
type LineIndex = { readonly lines: SeenLines; readonly texts: Map<number, AddedText>; count: number };

/** No fewer than `SeenLines` remembers: it counts more than characters. */
const charsMax = 2_000_000;

/**
 * The texts of results that later results may refer to; an immutable value. The newest value owns the index
 * over their lines and moves it on. An older one builds its own from its texts when it is asked again.
 */
export class SeenTexts {
  readonly #added: AppendList<AddedText>;
  readonly #kept: KeptSpan;
  #index: LineIndex;

  private constructor(added: AppendList<AddedText>, kept: KeptSpan, index: LineIndex) {
    this.#added = added;
    this.#kept = kept;
    this.#index = index;
  }

  static empty(): SeenTexts {
    return new SeenTexts(AppendList.of<AddedText>([]), { first: 0, chars: 0 }, newIndex());
  }

  /** The runs of lines of a text that an earlier block shows. */
  matches(text: string): readonly SeenRun[] {
    const { lines, texts } = this.#ownIndex();
    return lines.matches(text).filter(({ id }) => texts.get(id)?.isBorrower !== true);
  }

  add(more: readonly ShownText[]): SeenTexts {
    if (more.length === 0) return this;
    const index = this.#ownIndex();
    const isRepeated = more.some(({ block }) => index.texts.has(block));
    const texts = more.map((one) => {
      const wasBorrower = index.texts.get(one.block)?.isBorrower === true;
      return { ...one, isBorrower: wasBorrower || one.runs.length > 0 };
    });
    const added = this.#added.append(texts);
    for (const one of texts) addTo(index, one);
    index.count = added.length;
    const grown = texts.reduce((sum, { text }) => sum + text.length, this.#kept.chars);
    const { first, chars } = forgetOldest(index, added, { first: this.#kept.first, chars: grown });
    // Adding a text again removes lines from the index that other texts still have.
    const next = isRepeated ? indexOf(added, first) : index;
    const isMostlyForgotten = first > 64 && first > added.length / 2;
    if (!isMostlyForgotten) return new SeenTexts(added, { first, chars }, next);
    const kept = AppendList.of([...added].slice(first));
    return new SeenTexts(kept, { first: 0, chars }, { ...next, count: kept.length });
  }

  #ownIndex(): LineIndex {
    if (this.#index.count !== this.#added.length) this.#index = indexOf(this.#added, this.#kept.first);
    return this.#index;
  }
}

/** The first of the added texts that is not forgotten, and the characters of all from there on. */
type KeptSpan = { readonly first: number; readonly chars: number };

function newIndex(): LineIndex {
  return { lines: new SeenLines(), texts: new Map(), count: 0 };
}

function indexOf(added: AppendList<AddedText>, first: number): LineIndex {
  const index = newIndex();
  const newest = new Map<number, AddedText>();
  for (let at = first; at < added.length; at += 1) {
    const one = added.at(at);
    if (one === undefined) continue;
    newest.delete(one.block);
    newest.set(one.block, one);
  }
  for (const one of newest.values()) addTo(index, one);
  index.count = added.length;
  return index;
}

function addTo({ lines, texts }: LineIndex, one: AddedText): void {
  texts.delete(one.block);
  texts.set(one.block, one);
  lines.add(one.block, one.text, one.runs);
}

/** Forgets the oldest texts of a span that has grown too long. */
function forgetOldest({ texts }: LineIndex, added: AppendList<AddedText>, span: KeptSpan): KeptSpan {
  let { first, chars } = span;
  for (; chars > charsMax && first < added.length; first += 1) {
    const oldest = added.at(first);
    if (oldest === undefined) continue;
    chars -= oldest.text.length;
    if (texts.get(oldest.block) === oldest) texts.delete(oldest.block);
  }
  return { first, chars };
}
