import fc from "fast-check";
import { expect, it } from "vitest";
import { intents, live } from "../../test/support/random-session.ts";
import { numRuns } from "../../test/support/runs.ts";
import { unwrap } from "../base/index.ts";
import type { State } from "../engine/index.ts";
import { momentAt, now } from "../engine/moment/index.ts";
import type { StateRow } from "./answers/state-answers.ts";
import { indexExchanges, requestRow } from "./request-row.ts";
import { sessionRow } from "./session-row.ts";
import { stateRow } from "./state-row.ts";

const sizes = { windowOf: () => 500 };
const runs = numRuns(40);

/** The rows of all streams. */
function rowsAt(state: State, seq: number): readonly StateRow[] {
  const moment = unwrap(momentAt(state, seq));
  const streams = [...state.streams.entries()].filter(([, stream]) => stream.openedSeq <= seq);
  return streams.map(([id]) => unwrap(stateRow(moment, id, sizes)));
}

it("in any session, used and free add up to the window, and pieces and zones to the same sum", () => {
  const sum = (rows: readonly { readonly tokens: number }[]) =>
    rows.reduce((all, { tokens }) => all + tokens, 0);
  fc.assert(
    fc.property(intents(60), (list) => {
      const last = live(list).states.at(-1) as State;
      for (const row of rowsAt(last, last.seq)) {
        const { window, strip, zones, otherTokens, blocks } = row;
        expect(window.used + (window.free ?? Number.NaN)).toBe(window.size);
        expect(sum(zones)).toBe(sum(strip));
        expect(sum(strip) + otherTokens).toBe(window.used);
        expect(window.exact || window.used === sum(strip)).toBe(true);
        const counted = blocks.filter((block) => block.counted).length;
        expect(strip.reduce((all, segment) => all + segment.blocks, 0)).toBe(counted);
        expect(row.pending.blocks).toBe(blocks.filter(({ pending }) => pending).length);
        const lowered = blocks.filter(({ shown }) => shown !== "original" && shown !== "absent");
        expect(row.lowered.blocks).toBe(lowered.length);
        const { cached, forecast, changedFrom } = row.marks;
        expect(cached?.tokens ?? 0).toBeLessThanOrEqual(window.used);
        expect(forecast?.next ?? []).toSatisfy((next: number[]) =>
          next.every((used) => used <= (window.size ?? 0)),
        );
        expect(changedFrom === null || blocks.some(({ n }) => n === changedFrom.block)).toBe(true);
      }
    }),
    runs,
  );
});

it("in any session, rows as of a seq equal the rows made at that seq", () => {
  fc.assert(
    fc.property(intents(40), fc.nat(), (list, pick) => {
      const { states } = live(list);
      const last = states.at(-1) as State;
      const seq = pick % states.length;
      const then = states[seq] as State;
      const expected = rowsAt(then, seq).map((row) => ({ ...row, head: last.seq }));
      expect(rowsAt(last, seq)).toEqual(expected);
      const requests = (state: State) => {
        const all = indexExchanges(unwrap(momentAt(state, seq)));
        return all.list.map((exchange) => requestRow({ exchange, time: null }, all));
      };
      expect(requests(last)).toEqual(requests(then));
    }),
    runs,
  );
});

it("in any session, the row of the session agrees with the state of its main stream", () => {
  fc.assert(
    fc.property(intents(40), (list) => {
      const last = live(list).states.at(-1) as State;
      const row = sessionRow(now(last), { name: "", lastActivity: null }, sizes);
      const main = unwrap(stateRow(now(last), undefined, sizes));
      expect([row.window, row.model, row.seq]).toEqual([main.window, main.model, main.seq]);
      expect(row.streams).toBe(main.streams.length);
    }),
    runs,
  );
});
