import type { ContentHash } from "../../base/index.ts";
import type { Store } from "../../store/index.ts";
import type { RememberedTurn } from "../desk-port.ts";

/** So many at most: a path of which more is shown in other words goes on by what is left of it. */
const originalsMax = 256;

type PathUnit = RememberedTurn["path"][number];

export type OriginalsAsked = {
  readonly store: Store;
  /** The hashes of all that stands in the bodies of the turns: such words are known already. */
  readonly known: ReadonlySet<string>;
  /** So much may be read. */
  readonly bytesMax: number;
};

/**
 * Turns with the words behind what they show in others. Most are found in the body of an earlier turn; those
 * that were shortened as they came stand in none, and without them a client could repeat them in one form
 * only. The newest come first.
 */
export async function withOriginals(
  turns: readonly RememberedTurn[],
  asked: OriginalsAsked,
): Promise<readonly RememberedTurn[]> {
  const missing = turns.toReversed().flatMap(({ path }) => path.toReversed().flatMap(contentOf));
  const wanted = [...new Set(missing)].filter((content) => !asked.known.has(content));
  if (wanted.length === 0) return turns;
  const words = await wordsOf(wanted.slice(0, originalsMax), asked);
  const withWords = (unit: PathUnit): PathUnit => {
    const bytes = unit.of === undefined ? undefined : words.get(unit.of.content);
    return unit.of === undefined || bytes === undefined ? unit : { ...unit, of: { ...unit.of, bytes } };
  };
  return turns.map((turn) => ({ ...turn, path: turn.path.map(withWords) }));
}

function contentOf({ of }: PathUnit): readonly string[] {
  return of === undefined ? [] : [of.content];
}

/** What was erased, or is not written down yet, is none of them. */
async function wordsOf(
  contents: readonly string[],
  { store, bytesMax }: OriginalsAsked,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const words = new Map<string, Uint8Array>();
  let left = bytesMax;
  await store.flush();
  for (const content of contents) {
    if (left <= 0) break;
    const found = await store.content(content as ContentHash);
    if (!found.ok) continue;
    left -= found.value.length;
    if (left >= 0) words.set(content, found.value);
  }
  return words;
}
