import { expect, test } from "vitest";
import { TestSession } from "../../test/support/engine.ts";
import { sessionId } from "../base/index.ts";
import { emptyState } from "../engine/index.ts";
import { newStream } from "./session-streams.ts";

test("the first stream of a session is 1, and so is its view", () => {
  const { stream, view, deltas } = newStream(emptyState(sessionId("s")), "main", null);
  expect([stream, view]).toEqual([1, 1]);
  expect(deltas).toEqual([
    { type: "stream-opened", stream: 1, name: "main", parent: null },
    { type: "view-opened", view: 1, stream: 1, agent: "model", parent: null },
  ]);
});

test("the next stream forks from its parent before its first message, and the log accepts it", () => {
  const session = new TestSession();
  const [main] = [...session.state.streams.entries()].map(([id]) => id);
  session.pass(3);
  const opened = newStream(session.state, "agent a", session.stream().id);
  expect([main, opened.stream, opened.view]).toEqual([1, 2, 2]);
  expect(opened.deltas[0]).toMatchObject({ parent: { stream: 1, seq: session.stream().openedSeq } });
  session.append(opened.deltas, { stream: null });
  expect(newStream(session.state, "agent b", null).stream).toBe(3);
});
