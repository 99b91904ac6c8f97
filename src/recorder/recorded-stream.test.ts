import { expect, test } from "vitest";
import { blockId, sessionId, turnOf } from "../base/index.ts";
import { emptyState, type State } from "../engine/index.ts";
import type { NamedRequest } from "./context-names.ts";
import type { SentPrompt } from "./prompt-sizes.ts";
import type { AppendedTurn, RecordedStream } from "./recorded-stream.ts";
import { noteSentTurn } from "./recorded-stream.ts";

/** A stream that collects the prompts and names it gets. */
function watchedStream() {
  const [prompts, named]: [SentPrompt[], NamedRequest[]] = [[], []];
  const stream = {
    sizes: { noteSent: (prompt: SentPrompt) => prompts.push(prompt) },
    names: { addRequest: (request: NamedRequest) => named.push(request) },
  } as unknown as RecordedStream;
  return { stream, prompts, named };
}

function appendedTurn(relation: string, sent: object | null = { leaf: "l" }): AppendedTurn {
  const request = { model: "m", answerTokensMax: 5 };
  const draft = { blocks: [blockId(7), blockId(8)], fresh: [] };
  return {
    copy: { sent },
    request,
    exchange: { id: 3, relation },
    turn: 9,
    draft,
  } as unknown as AppendedTurn;
}

const empty = emptyState(sessionId("s"));
const state = {
  ...empty,
  blocks: empty.blocks.with(7, { block: { turn: turnOf(4) } } as never),
} as State;

test("a turn of the planner updates prompt size and names", () => {
  const { stream, prompts, named } = watchedStream();
  noteSentTurn(stream, appendedTurn("next"), state);
  expect(prompts).toEqual([{ exchange: 3, sent: { leaf: "l" }, model: "m", answerMax: 5 }]);
  expect(named).toMatchObject([{ turn: 9, isNext: true, fresh: [] }]);
});

test("a request that was sent unchanged updates nothing", () => {
  const { stream, prompts, named } = watchedStream();
  noteSentTurn(stream, appendedTurn("next", null), state);
  expect([prompts, named]).toEqual([[], []]);
});

test.each([
  ["next", true],
  ["retry", true],
  ["rewind", false],
  ["compacted", false],
])("a request with relation %s continues the previous one: %s", (relation, isNext) => {
  const { stream, named } = watchedStream();
  noteSentTurn(stream, appendedTurn(relation), state);
  expect(named[0]?.isNext).toBe(isNext);
});

test("a unit has the turn of its block, or this turn without a block", () => {
  const { stream, named } = watchedStream();
  noteSentTurn(stream, appendedTurn("next"), state);
  const turnOfUnit = named[0]?.turnOf;
  expect([0, 1, 2].map((unit) => turnOfUnit?.(unit))).toEqual([4, 9, 9]);
});
