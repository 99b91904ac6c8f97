import { expect, test } from "vitest";
import { fail, must, ok, sessionId, streamId, viewId } from "../../base/index.ts";
import { emptyState, type State } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { recallTalks } from "./recall-talks.ts";
import { StreamIndex } from "./stream-index.ts";

const empty = emptyState(sessionId("s"));
const state = (rendering: string): State => ({
  ...empty,
  exchanges: empty.exchanges.with(0, { id: 1, rendering, openedSeq: 0, end: null } as never),
});

const body = Buffer.from(
  JSON.stringify({ model: "m", messages: [{ role: "user", content: "as the client said" }] }),
);

function indexOf(exchange: number): StreamIndex {
  const index = new StreamIndex(streamId(1), viewId(1));
  index.last = { exchange, path: [], blocks: [], talk: ["as it was sent"], request: null };
  return index;
}

/** A store that has this one body, and what it was asked for. */
function storeOf(answer: Uint8Array | null, meanwhile: () => void = () => undefined) {
  const asked: unknown[] = [];
  const store = {
    body: (key: unknown) => {
      asked.push(key);
      meanwhile();
      return Promise.resolve(answer === null ? fail("AP_BODY_UNKNOWN", {} as never) : ok(answer));
    },
  } as unknown as Pick<Store, "body">;
  return { store, asked };
}

test("what the client last said is read where the ledger sent something else", async () => {
  const index = indexOf(1);
  const { store, asked } = storeOf(body);
  await recallTalks([index], () => state("managed"), store);
  expect(asked).toEqual([{ session: "s", exchange: 1, side: "client-request" }]);
  const { talk, request } = must(index.last, "it has a last turn");
  expect([talk.length, request?.talk]).toEqual([1, talk]);
  expect(talk).not.toEqual(["as it was sent"]);
});

test("nothing is read where it went up as it came, or where nothing was sent", async () => {
  const { store, asked } = storeOf(body);
  const none = new StreamIndex(streamId(1), viewId(1));
  await recallTalks([indexOf(1)], () => state("raw"), store);
  await recallTalks([none, indexOf(2)], () => state("managed"), store);
  expect(asked).toEqual([]);
});

test.each([
  ["that is gone", null],
  ["that cannot be read", Buffer.from("{")],
])("a body %s leaves what was sent", async (_, answer) => {
  const index = indexOf(1);
  await recallTalks([index], () => state("managed"), storeOf(answer).store);
  expect(index.last?.talk).toEqual(["as it was sent"]);
});

test("a turn that came meanwhile is not overwritten", async () => {
  const index = indexOf(1);
  const later = { ...must(index.last, "it has one"), exchange: 2, talk: ["later"] };
  const { store } = storeOf(body, () => {
    index.last = later;
  });
  await recallTalks([index], () => state("managed"), store);
  expect(index.last).toBe(later);
});
