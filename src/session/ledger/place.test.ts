import fc from "fast-check";
import { expect, test } from "vitest";
import { newPlace } from "./draft.ts";
import { countOn, type Place, rootOf, rootPlace, wholly } from "./place.ts";

const rest = {
  origin: "client",
  wrapping: { role: "user", head: "", tail: "" },
  opens: true,
  extra: null,
  isRewritten: false,
  isFromElsewhere: false,
  original: null,
  first: null,
  numbered: null,
  showing: wholly,
  isHeader: false,
} as const;

function below(parent: Place, key: string): Place {
  const facts = { key, kind: "user", type: "text", callId: null, hash: key } as const;
  return newPlace(parent, { ...rest, facts });
}

function slowCount(place: Place, key: string): number {
  const own = place.facts.key === key ? 1 : 0;
  return place.parent === null ? own : own + slowCount(place.parent, key);
}

/** A place is hung below the nth that is there, its key is asked for, and sometimes it is given another. */
const step = fc.record({
  below: fc.nat(30),
  key: fc.constantFrom("a", "b", "c"),
  asked: fc.constantFrom("a", "b", "c"),
  renamed: fc.option(fc.constantFrom("a", "b", "c")),
});

test("a key is counted on every path of a tree as by going through it, and every path has its root", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const root = rootPlace("root");
      const places = [root];
      for (const { below: at, key, asked, renamed } of steps) {
        const place = below(places[at % places.length] ?? root, key);
        // What was heard takes the form of the client's copy, before anything is hung below it.
        if (renamed !== null) place.facts = { ...place.facts, key: renamed };
        places.push(place);
        expect(countOn(place, asked)).toBe(slowCount(place, asked));
        expect(rootOf(place)).toBe(root);
      }
      for (const place of places) expect(countOn(place, "a")).toBe(slowCount(place, "a"));
    }),
  );
});
