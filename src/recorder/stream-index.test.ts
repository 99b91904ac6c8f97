import { expect, test } from "vitest";
import { fail, must, ok, sessionId, streamId, viewId } from "../base/index.ts";
import { emptyState, type State } from "../engine/index.ts";
import type { Store } from "../store/index.ts";
import { recallConversations, StreamIndex } from "./stream-index.ts";

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
  index.last = { exchange, path: [], blocks: [], messageKeys: ["as it was sent"], request: null };
  return index;
}

/** A store with this one body, and the keys that were read from it. */
function storeOf(answer: Uint8Array | null, meanwhile: () => void = () => undefined) {
  const reads: unknown[] = [];
  const store = {
    body: (key: unknown) => {
      reads.push(key);
      meanwhile();
      return Promise.resolve(answer === null ? fail("AP_BODY_UNKNOWN", {} as never) : ok(answer));
    },
  } as unknown as Pick<Store, "body">;
  return { store, reads };
}

test("the client's last request is read if the planner sent another body", async () => {
  const index = indexOf(1);
  const { store, reads } = storeOf(body);
  await recallConversations([index], () => state("managed"), store);
  expect(reads).toEqual([{ session: "s", exchange: 1, side: "client-request" }]);
  const { messageKeys, request } = must(index.last, "it has a last turn");
  expect([messageKeys.length, request?.messageKeys]).toEqual([1, messageKeys]);
  expect(messageKeys).not.toEqual(["as it was sent"]);
});

test("nothing is read if the body was sent unchanged, or if nothing was sent", async () => {
  const { store, reads } = storeOf(body);
  const none = new StreamIndex(streamId(1), viewId(1));
  await recallConversations([indexOf(1)], () => state("raw"), store);
  await recallConversations([none, indexOf(2)], () => state("managed"), store);
  expect(reads).toEqual([]);
});

test.each([
  ["that is gone", null],
  ["that cannot be read", Buffer.from("{")],
])("a body %s leaves the keys of the sent units", async (_, answer) => {
  const index = indexOf(1);
  await recallConversations([index], () => state("managed"), storeOf(answer).store);
  expect(index.last?.messageKeys).toEqual(["as it was sent"]);
});

test("a turn that is recorded meanwhile is not overwritten", async () => {
  const index = indexOf(1);
  const later = { ...must(index.last, "it has one"), exchange: 2, messageKeys: ["later"] };
  const { store } = storeOf(body, () => {
    index.last = later;
  });
  await recallConversations([index], () => state("managed"), store);
  expect(index.last).toBe(later);
});
