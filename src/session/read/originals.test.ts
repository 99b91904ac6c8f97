import { expect, test } from "vitest";
import { hashContent, unwrap } from "../../base/index.ts";
import { openMemoryStore, type Store } from "../../store/index.ts";
import type { RememberedTurn } from "../desk-port.ts";
import { withOriginals } from "./originals.ts";

const contents = ["one, whole", "two, whole", "three, whole"].map((text) => {
  const bytes = Buffer.from(text);
  return { hash: hashContent(bytes), bytes };
});

async function storeWith(kept: typeof contents): Promise<Store> {
  const store = openMemoryStore();
  const appended = store.append({ contents: kept });
  if (appended.accepted) unwrap(await appended.durable);
  return store;
}

/** A turn that shows each of these shorter. */
function turnWith(shown: typeof contents): RememberedTurn {
  const path = shown.map(({ hash }, at) => {
    const of = { content: hash, as: "trimmed" } as const;
    return { origin: "client", key: `user:c${at}:`, bytes: hashContent(Buffer.from(`${at}`)), of } as const;
  });
  return { body: Buffer.alloc(0), path, answer: null, turn: 1 };
}

function wordsIn(turns: readonly RememberedTurn[]): readonly (string | null)[] {
  return turns.flatMap(({ path }) =>
    path.map(({ of }) => (of?.bytes === undefined ? null : Buffer.from(of.bytes).toString())),
  );
}

test("words that no body holds are taken from the store, and only those", async () => {
  const [first] = contents;
  const known = new Set(first === undefined ? [] : [first.hash]);
  const asked = { store: await storeWith(contents), known, bytesMax: 1_000 };
  expect(wordsIn(await withOriginals([turnWith(contents)], asked))).toEqual([
    null,
    "two, whole",
    "three, whole",
  ]);
});

test("what was erased stays unknown", async () => {
  const asked = { store: await storeWith(contents.slice(0, 1)), known: new Set<string>(), bytesMax: 1_000 };
  expect(wordsIn(await withOriginals([turnWith(contents)], asked))).toEqual(["one, whole", null, null]);
});

test("no more is read than there is room for, the newest first", async () => {
  const asked = { store: await storeWith(contents), known: new Set<string>(), bytesMax: 22 };
  expect(wordsIn(await withOriginals([turnWith(contents)], asked))).toEqual([
    null,
    "two, whole",
    "three, whole",
  ]);
});

test("turns that show everything whole are given back as they are", async () => {
  const asked = { store: await storeWith([]), known: new Set<string>(), bytesMax: 1_000 };
  const turns = [turnWith([])];
  expect(await withOriginals(turns, asked)).toBe(turns);
});
