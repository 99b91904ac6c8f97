import type { BlockRow } from "../api/contract.ts";
import { act, focusOn, targetOf } from "./acts.ts";

/** Something that can be done with blocks. `lock`: why it cannot be done now; null: it can. */
export type Doing = {
  readonly id: string;
  readonly title: string;
  readonly key: string;
  readonly lock: string | null;
  readonly run: () => void;
};

/** What opens a window of its own before anything is done. */
export type Asking =
  | {
      readonly type: "compress" | "archive" | "restore" | "expand" | "withhold" | "release" | "purge";
      readonly blocks: readonly number[];
    }
  | { readonly type: "update"; readonly block: number }
  | { readonly type: "create"; readonly supersedes: readonly number[] }
  | { readonly type: "recall" };

export type DoingPlace = {
  readonly session: string;
  readonly chosen: readonly BlockRow[];
  /** As of an earlier seq nothing can be done. */
  readonly isPast: boolean;
  readonly ask: (asking: Asking) => void;
};

/** Everything a person can do with the chosen blocks, in the order of the buttons. */
export function doingsFor(place: DoingPlace): readonly Doing[] {
  const doings = [...pointing(place), ...shaping(place), ...keeping(place)];
  return place.isPast ? doings.map((doing) => ({ ...doing, lock: "You are looking at the past" })) : doings;
}

/** What changes nothing that is shown. */
function pointing({ session, chosen }: DoingPlace): readonly Doing[] {
  const blocks = chosen.map(({ n }) => n);
  const target = targetOf(blocks);
  return [
    { id: "focus", title: "Focus", key: "f", lock: null, run: () => void focusOn(session, blocks) },
    {
      id: "pin",
      title: "Pin",
      key: "p",
      lock: unless(chosen, ({ pinned }) => !pinned, "All are pinned"),
      run: () => void act(session, { verb: "pin", target, position: "top" }),
    },
    {
      id: "pin-end",
      title: "Pin to the end",
      key: "Shift+P",
      lock: null,
      run: () => void act(session, { verb: "pin", target, position: "bottom" }),
    },
    {
      id: "unpin",
      title: "Unpin",
      key: "u",
      lock: unless(chosen, ({ pinned }) => pinned, "None is pinned"),
      run: () => void act(session, { verb: "unpin", target }),
    },
  ];
}

/** What changes how much of them is shown: it is asked with its price first. */
function shaping({ chosen, ask }: DoingPlace): readonly Doing[] {
  const blocks = chosen.map(({ n }) => n);
  return [
    {
      id: "compress",
      title: "Compress",
      key: "c",
      lock: fixed(chosen) ?? unless(chosen, ({ counted }) => counted, "None of them is in the window"),
      run: () => ask({ type: "compress", blocks }),
    },
    {
      id: "archive",
      title: "Archive",
      key: "a",
      lock: fixed(chosen) ?? unless(chosen, ({ state }) => state !== "archived", "All are archived"),
      run: () => ask({ type: "archive", blocks }),
    },
    {
      id: "restore",
      title: "Restore",
      key: "b",
      lock: unless(chosen, ({ state }) => state === "archived", "None is archived"),
      run: () => ask({ type: "restore", blocks }),
    },
    {
      id: "expand",
      title: "Expand",
      key: "e",
      lock: unless(chosen, ({ wanted }) => wanted !== "original", "All are wanted whole"),
      run: () => ask({ type: "expand", blocks }),
    },
  ];
}

/** What is about what is stored of them. */
function keeping({ chosen, ask }: DoingPlace): readonly Doing[] {
  const blocks = chosen.map(({ n }) => n);
  const [single] = blocks;
  const isWithheld = chosen.length > 0 && chosen.every(({ withheld }) => withheld);
  const verb = isWithheld ? "release" : "withhold";
  return [
    {
      id: "withhold",
      title: isWithheld ? "Release" : "Withhold",
      key: "w",
      lock: null,
      run: () => ask({ type: verb, blocks }),
    },
    {
      id: "update",
      title: "Update",
      key: "",
      lock: blocks.length === 1 ? null : "One block at a time",
      run: () => {
        if (single !== undefined) ask({ type: "update", block: single });
      },
    },
    { id: "purge", title: "Purge", key: "", lock: null, run: () => ask({ type: "purge", blocks }) },
  ];
}

/** What a client sends in front of every request can never be shown otherwise, and a pin holds. */
function fixed(rows: readonly BlockRow[]): string | null {
  return (
    unless(rows, ({ kind }) => kind !== "system", "The client sends it in front of every request") ??
    unless(rows, ({ kind, pinned }) => kind === "system" || !pinned, "Pinned: unpin it first")
  );
}

/** Null where it holds for some of them. */
function unless(rows: readonly BlockRow[], holds: (row: BlockRow) => boolean, lock: string): string | null {
  return rows.some(holds) ? null : lock;
}
