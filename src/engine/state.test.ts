import { expect, it } from "vitest";
import { dump } from "../../test/support/engine.ts";
import { GENESIS_HASH, sessionId } from "../base/index.ts";
import { emptyState } from "./state.ts";

it("an empty state has a session id, the genesis hash, the first ids and nothing else", () => {
  const nothing = { size: 0, entries: [] };
  expect(dump(emptyState(sessionId("s")))).toEqual({
    session: "s",
    seq: 0,
    hash: GENESIS_HASH,
    streams: nothing,
    views: nothing,
    blocks: nothing,
    messages: nothing,
    pairs: nothing,
    units: nothing,
    steps: nothing,
    exchanges: nothing,
    identity: null,
    approvals: nothing,
    mode: null,
    name: null,
    next: { block: 1, message: 1 },
  });
});
