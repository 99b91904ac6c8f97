import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostileText, nonce } from "../../test/support/render-facts.ts";
import { changeWords } from "../awareness/index.ts";
import { blockKinds, levels } from "../engine/frames/index.ts";
import { readAnswerHead, writeAnswerHead } from "./answers.ts";
import { readChangeNote, writeChangeNote } from "./change-note.ts";
import { type ChangeList, readChanges, type ShownChange, writeChanges } from "./changes-text.ts";
import {
  readHeader,
  readMessageHeader,
  readPartHeader,
  writeHeader,
  writeMessageHeader,
  writePartHeader,
} from "./header.ts";
import { readOffers, writeOffers } from "./hints.ts";
import { instructions } from "./instructions.ts";
import { levelLine, readLevelLine } from "./level-line.ts";
import { type ManifestField, readManifestNote, writeManifestNote } from "./manifest-note.ts";
import { memoryLine, memoryText, readMemoryLine } from "./memory-line.ts";
import { readNote } from "./note.ts";
import { readPlaceholder, writePlaceholder } from "./placeholder.ts";
import { readRangesNote, writeRanges } from "./range.ts";
import { listed, safeText, shortened } from "./safe-text.ts";
import { readSelection, shownSelected, writeSelection } from "./selection.ts";
import { idList, readIds, readSize, roundSize, roundTokens, writeIds, writeSize } from "./sizes-and-ids.ts";

// Each law: what a note says is what is read back from its text.

const id = fc.integer({ min: 1, max: 9_999 });
const turn = fc.integer({ min: 1, max: 999 });
const count = fc.integer({ min: 1, max: 400 });
const tokens = fc.nat(2_000_000).map(roundTokens);
const size = fc.record({ tokens: fc.nat(2_000_000), exact: fc.boolean() }).map(roundSize);
const wholeSize = fc.record({ tokens: fc.nat(2_000_000), exact: fc.boolean() });
const ids = fc.tuple(fc.uniqueArray(id, { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 4 }));
const list = ids.map(([all, max]) => idList(all, max));
const safe = hostileText.map((text) => shortened(safeText(text, nonce), 60));
const word = safe.map((text) => text.replace(/\s+/g, "") || "x");
const name = safe.filter((text) => text !== "").map(listed);
const label = fc.oneof(
  fc.constant(""),
  name,
  name.map((text) => `result ${text}`),
);
const reason = safe.map((text) => text.replace(/, /g, " "));
const state = fc.constantFrom("pinned", "pruned", null);
const kind = fc.constantFrom(...blockKinds);
const selected = fc
  .record({ block: id, name: fc.option(hostileText) })
  .map((one) => shownSelected(nonce, one));
const sizedLabel = fc.record({ block: id, label, size });

/** Writes arbitrary values and expects to read the same values. */
function returns<T>(
  values: fc.Arbitrary<T>,
  write: (value: T) => string,
  read: (text: string) => unknown,
): void {
  fc.assert(
    fc.property(values, (value) => {
      const text = write(value);
      expect(read(text), text).toEqual(value);
    }),
    { numRuns: 500 },
  );
}

const change: fc.Arbitrary<ShownChange> = fc
  .record({
    actor: fc.constantFrom("user", "client", "you", "aperture"),
    what: fc.constantFrom(...changeWords),
    blocks: list,
    freed: tokens,
    reason: safe,
    by: id,
    verb: fc.constantFrom("archive", "pin", "create"),
  })
  .map(({ actor, what, blocks, freed, reason, by, verb }) => {
    const isDecided = what === "approved" || what === "denied";
    const isUndecided = what === "waiting" || what === "expired";
    if (what === "superseded") return { actor: null, what, blocks, freed: 0, reason: "", by, verb: null };
    if (isUndecided) return { actor: null, what, blocks, freed: 0, reason: "", by: null, verb };
    return { actor, what, blocks, freed, reason, by: null, verb: isDecided ? verb : null };
  });
const changes: fc.Arbitrary<ChangeList> = fc.record({
  changes: fc.array(change, { maxLength: 4 }),
  more: fc.nat(9),
});
const expiries = fc.array(fc.record({ blocks: list, at: turn }), { minLength: 1, maxLength: 3 });

describe("numbers", () => {
  test("sizes", () => returns(size, writeSize, readSize));
  test("ids", () => returns(list, writeIds, readIds));
});

describe("one line", () => {
  const clock = fc.constantFrom("14:05", "2026-11-15 14:05 UTC-5", "2026-01-01 00:00 UTC", "00:00");
  const ranges = fc.uniqueArray(id, { maxLength: 5 }).map((all) => idList(all).ranges);

  test("compact header", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        turn,
        clock,
        pause: fc.constantFrom(null, "+6m", "+2h10m", "+3d4h"),
        messages: ranges,
        blocks: ranges.map((all) => ({ ranges: all, more: 0 })),
        details: fc.array(
          fc.tuple(sizedLabel, fc.oneof(turn, state)).map(([detail, end]) => ({ ...detail, end })),
          { maxLength: 5 },
        ),
        names: fc.array(word, { maxLength: 4 }),
      }),
      writeHeader,
      readHeader,
    ));

  test("header of a message", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        message: id,
        role: safe,
        from: safe,
        time: fc.constant("2026-11-15T19:05:11Z"),
        size: wholeSize,
        state,
      }),
      writeMessageHeader,
      readMessageHeader,
    ));

  test("header of a block", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        block: id,
        kind,
        size: wholeSize,
        left: fc.option(fc.record({ turns: turn, at: turn, until: turn })),
        state,
      }),
      writePartHeader,
      readPartHeader,
    ));

  test("placeholder", () => {
    const shared = {
      nonce: fc.constant(nonce),
      block: id,
      reason: safe.map((text) => text || "no reason given"),
      hint: safe,
      back: fc.oneof(fc.constantFrom("expand" as const, "none" as const), id),
    };
    const compact = fc.record({
      ...shared,
      mode: fc.constant("compact" as const),
      kind: fc.constantFrom("result", "call", "user", "media"),
      size,
    });
    const full = fc.record({ ...shared, mode: fc.constant("full" as const), kind, size: wholeSize });
    returns(fc.oneof(compact, full), writePlaceholder, readPlaceholder);
  });

  test("level line", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        block: id,
        as: fc.constantFrom(...levels, "placeholder" as const),
        tokens,
      }),
      (note) => levelLine(note.nonce, note),
      readLevelLine,
    ));

  test("memory line", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        block: id,
        taint: fc.constantFrom("user" as const, "model" as const, "untrusted" as const),
        text: hostileText.map(memoryText),
      }),
      (note) => memoryLine(note, note.nonce),
      readMemoryLine,
    ));

  test("offers", () =>
    returns(
      fc.record({ nonce: fc.constant(nonce), offers: fc.array(sizedLabel, { minLength: 1, maxLength: 3 }) }),
      writeOffers,
      readOffers,
    ));

  test("selection", () =>
    returns(
      fc.record({ nonce: fc.constant(nonce), selected: fc.array(selected, { minLength: 1, maxLength: 4 }) }),
      writeSelection,
      readSelection,
    ));

  test("change note", () => {
    const note = fc.record({
      nonce: fc.constant(nonce),
      turn,
      changes,
      expiries: fc.oneof(fc.constant([]), expiries),
      free: fc.option(size),
    });
    returns(note, writeChangeNote, readChangeNote);
  });

  test("head of an answer to a command", () =>
    returns(fc.record({ nonce: fc.constant(nonce), command: safe }), writeAnswerHead, readAnswerHead));
});

describe("several lines", () => {
  test("ranges", () =>
    returns(
      fc.record({
        nonce: fc.constant(nonce),
        ranges: fc.array(
          fc.record({
            from: id,
            to: id,
            reasons: fc.array(reason, { minLength: 1, maxLength: 4 }),
            signatures: fc.nat(40),
          }),
          { maxLength: 4 },
        ),
      }),
      writeRanges,
      readRangesNote,
    ));

  test("changes", () => returns(changes, writeChanges, readChanges));

  test("manifest", () => {
    const variant = fc.constantFrom("text" as const, "xml" as const, "markdown" as const);
    const fill = fc.option(
      fc.oneof(
        fc.record({ used: size, window: tokens, percent: fc.nat(100) }),
        fc.record({ used: size, window: fc.constant(null), percent: fc.constant(null) }),
      ),
    );
    const note = fc
      .record({
        nonce: fc.constant(nonce),
        variant,
        turn,
        blocks: fc.nat(900),
        fill,
        lines: fc.array(fc.array(manifestField(), { minLength: 1, maxLength: 4 }), { maxLength: 5 }),
      })
      .map((value) => (value.variant === "markdown" ? (withoutBackticks(value) as typeof value) : value));
    returns(note, writeManifestNote, readManifestNote);
  });
});

/** Markdown writes a backtick as an apostrophe, so that no content ends the wrapping. */
function withoutBackticks(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll("`", "'"));
}

function manifestField(): fc.Arbitrary<ManifestField> {
  const items = fc.array(name, { minLength: 1, maxLength: 4 });
  const content = fc.oneof(
    fc.record({ type: fc.constantFrom("list" as const, "topics" as const), items }),
    fc.record({ type: fc.constant("task" as const), text: safe }),
    fc.record({
      type: fc.constant("selected" as const),
      selected: fc.array(selected, { minLength: 1, maxLength: 3 }),
      more: fc.nat(4),
    }),
  );
  const zone = fc.record({
    type: fc.constant("zone" as const),
    zone: fc.constantFrom("PRIMACY" as const, "MIDDLE" as const, "RECENCY" as const, "COLD" as const),
    blocks: count,
    size,
    isCounted: fc.boolean(),
    isPinned: fc.boolean(),
    pending: fc.option(fc.record({ blocks: count, tokens })),
    content: fc.option(content),
    recall: fc.constantFrom(null, "aperture_read"),
  });
  const counts = fc.constant({ type: "list" as const, items: ["3 user", "4 tool"] });
  return fc.oneof(
    zone,
    counts,
    fc.record({ type: fc.constant("needed" as const), names: fc.array(word, { minLength: 1 }) }),
    fc.record({ type: fc.constant("expiring" as const), expiries }),
    fc.record({
      type: fc.constant("candidates" as const),
      items: fc.array(fc.record({ from: id, to: id, label, tokens, since: turn }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    fc.record({
      type: fc.constant("pruned" as const),
      ranges: fc.array(fc.record({ from: id, to: id, reason: safe, signatures: fc.nat(9) }), {
        minLength: 1,
        maxLength: 3,
      }),
      more: fc.nat(4),
    }),
    fc.record({ type: fc.constant("since" as const), changes }),
    fc.record({
      type: fc.constant("budget" as const),
      free: size,
      turns: fc.option(turn),
      expandable: fc.option(count),
    }),
  );
}

test("every note is known again by its text", () => {
  expect(readNote(instructions(nonce, { hasTools: true }))).toEqual({ type: "instructions", nonce });
  expect(readNote(`${writeAnswerHead({ nonce, command: "@pin(4)" })}\n#4 pinned.`)?.type).toBe("answer");
  expect(readNote("# Context notes\nare a chapter of my thesis")).toBe(null);
  expect(readNote("[1] turn 3, or so")).toBe(null);
});
