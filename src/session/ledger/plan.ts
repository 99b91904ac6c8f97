import { must } from "../../base/index.ts";
import { emitMarked, isClearing } from "../../protocols/index.ts";
import type { SentReport, SentUnit } from "../desk-port.ts";
import { closing, emitRequest, marksOf } from "./body.ts";
import { editBehind } from "./clearing.ts";
import { type Item, spellItems } from "./draft.ts";
import type { Head } from "./head.ts";
import { type Place, sentOf } from "./place.ts";
import type { RenderAsked, Rendered, SentPath } from "./rendering.ts";
import type { Rewritten } from "./rewrite.ts";
import type { otherForms, Trace } from "./trace.ts";

/** A request, put together and not yet written. */
export type Plan = {
  readonly asked: RenderAsked;
  readonly head: Head;
  readonly trace: Trace;
  /** The last place that was sent before, and what is sent behind it. */
  readonly from: Place;
  readonly items: readonly Item[];
  readonly dropped: string | null;
};
/** The request that was answered, and the last that was heard. */
export type Answered = { readonly path: SentPath; readonly end: Place };

export type Again = { readonly head: Head; readonly trace: Trace; readonly leaf: Place };
export type Sent = {
  readonly leaf: Place;
  readonly places: readonly Place[];
  readonly fresh: readonly SentUnit[];
  readonly epoch: SentReport["epoch"];
  readonly copies: ReturnType<typeof otherForms>;
};

/** A request as far as it is put together; fresh: what is new of it, null where it is sent again. */
export type Begun = Pick<OwnPlace, "head" | "heard"> & {
  readonly trace: Trace;
  readonly fresh: readonly Item[] | null;
  /** All that comes behind what was sent before. */
  readonly items: readonly Item[];
};
export type OwnPlace = {
  readonly head: Head;
  /** The last that is known of the request. */
  readonly place: Place;
  readonly heard: readonly Item[];
  readonly fresh: readonly Item[];
  readonly rewritten: Rewritten | null;
  /** Whether reasoning behind the rewriting is left out. */
  readonly isCut: boolean;
};

/** The request without a trace in the ledger. */
export function spell({ asked, head, trace, from, items, dropped }: Plan): Rendered {
  const { id, image, end } = sentOf(from);
  const spelled = spellItems({ end, tail: from.wrapping.tail }, items);
  const ends = new Map(
    items.flatMap(({ at }, index) => (at === null ? [] : [[at, spelled.ends[index] ?? 0] as const])),
  );
  const moved = new Map(items.map(({ from: old, place }, index) => [old ?? place, spelled.ends[index]]));
  const { kept, followed } = trace;
  const endOf = (at: number): number | null => {
    const local = at - kept.length;
    const place = local < 0 ? kept[at] : followed.steps[local]?.place;
    return ends.get(local) ?? (place && moved.get(place)) ?? place?.sent?.end ?? null;
  };
  const marks = marksOf(asked, kept.length + trace.units.length, endOf);
  const messages = [
    ...emitMarked(
      image.slice(0, end),
      marks.filter((mark) => mark.end <= end),
    ),
    ...emitMarked(
      spelled.bytes,
      marks.filter((mark) => mark.end > end).map((mark) => ({ ...mark, end: mark.end - end })),
    ),
    closing(dropped, spelled.tail),
  ];
  const hasClearing =
    from.hasClearing || items.some(({ wrapping, opens }) => opens && isClearing(wrapping.head));
  const report = { leaf: id, fresh: [], copies: [], isTurn: false, epoch: null };
  const edit = editBehind(from, items);
  return {
    ...emitRequest({ asked, head, edit }, messages),
    usesClearing: hasClearing,
    cleared: edit?.cleared ?? null,
    report,
    leaf: from,
    path: { head, places: [] },
    hasHeader: false,
    freed: 0,
  };
}

/** For each unit of the client's messages the place it has now; what is left out has the place before it. */
export function placesAfter(
  { kept, units, followed }: Trace,
  items: readonly Item[],
  written: readonly Place[],
): readonly Place[] {
  const moved = new Map<Place, Place>();
  const placed = new Map<number, Place>();
  for (const [index, { at, place, from }] of items.entries()) {
    const now = must(written[index], "every item has a place");
    const before = from ?? place;
    if (before !== null && before !== now) moved.set(before, now);
    if (at !== null) placed.set(at, now);
  }
  const before = [...kept, ...followed.steps.map(({ place }) => place)];
  const places = moved.size === 0 ? before : before.map((place) => moved.get(place) ?? place);
  for (let at = followed.steps.length; at < units.length; at += 1) {
    places.push(placed.get(at) ?? must(places.at(-1) ?? written[0] ?? followed.place, "something was sent"));
  }
  return places;
}
