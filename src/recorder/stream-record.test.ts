import { expect, test } from "vitest";
import { hashContent, unwrap } from "../base/index.ts";
import type { TurnRecord } from "../exchange/index.ts";
import { openMemoryStore, type Store } from "../store/index.ts";
import { withOriginals } from "./stream-record.ts";

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

/** A turn that shows each of these trimmed. */
function turnWith(shown: typeof contents): TurnRecord {
  const path = shown.map(({ hash }, at) => {
    const original = { content: hash, as: "trimmed" } as const;
    return {
      origin: "client",
      key: `user:c${at}:`,
      bytesHash: hashContent(Buffer.from(`${at}`)),
      original,
    } as const;
  });
  return { body: Buffer.alloc(0), path, answer: null, turn: 1 };
}

function originalsIn(turns: readonly TurnRecord[]): readonly (string | null)[] {
  return turns.flatMap(({ path }) =>
    path.map(({ original }) =>
      original?.bytes === undefined ? null : Buffer.from(original.bytes).toString(),
    ),
  );
}

test("contents that no body has are read from the store, and only those", async () => {
  const [first] = contents;
  const known = new Set(first === undefined ? [] : [first.hash]);
  const input = { store: await storeWith(contents), known, bytesMax: 1_000 };
  expect(originalsIn(await withOriginals([turnWith(contents)], input))).toEqual([
    null,
    "two, whole",
    "three, whole",
  ]);
});

test("purged contents are left out", async () => {
  const input = { store: await storeWith(contents.slice(0, 1)), known: new Set<string>(), bytesMax: 1_000 };
  expect(originalsIn(await withOriginals([turnWith(contents)], input))).toEqual(["one, whole", null, null]);
});

test("reading stops at the byte limit, newest first", async () => {
  const input = { store: await storeWith(contents), known: new Set<string>(), bytesMax: 22 };
  expect(originalsIn(await withOriginals([turnWith(contents)], input))).toEqual([
    null,
    "two, whole",
    "three, whole",
  ]);
});

test("turns without shortened units are returned unchanged", async () => {
  const input = { store: await storeWith([]), known: new Set<string>(), bytesMax: 1_000 };
  const turns = [turnWith([])];
  expect(await withOriginals(turns, input)).toBe(turns);
});
