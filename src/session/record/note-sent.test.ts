import { expect, test } from "vitest";
import { blockId, sessionId, turnOf } from "../../base/index.ts";
import { emptyState, type State } from "../../engine/index.ts";
import type { NamedRequest } from "./name-book.ts";
import { noteSent } from "./note-sent.ts";
import type { SentPrompt } from "./prompt-sizes.ts";
import type { Noted, RecordedLine } from "./recorded-line.ts";

/** A line that keeps what it is told. */
function listening() {
  const [prompts, named]: [SentPrompt[], NamedRequest[]] = [[], []];
  const line = {
    sizes: { sent: (prompt: SentPrompt) => prompts.push(prompt) },
    names: { follow: (request: NamedRequest) => named.push(request) },
  } as unknown as RecordedLine;
  return { line, prompts, named };
}

function noted(relation: string, sent: object | null = { leaf: "l" }): Noted {
  const request = { model: "m", bytes: Buffer.from('{"max_tokens":5}'), members: [] };
  const drafted = { blocks: [blockId(7), blockId(8)], fresh: [] };
  return { copy: { sent }, request, exchange: { id: 3, relation }, turn: 9, drafted } as unknown as Noted;
}

const empty = emptyState(sessionId("s"));
const state = {
  ...empty,
  blocks: empty.blocks.with(7, { block: { turn: turnOf(4) } } as never),
} as State;

test("a turn that the ledger sent tells how large it is and which names stand in it", () => {
  const { line, prompts, named } = listening();
  noteSent(line, noted("next"), state);
  expect(prompts).toEqual([{ exchange: 3, sent: { leaf: "l" }, model: "m", answerMax: expect.any(Number) }]);
  expect(named).toMatchObject([{ turn: 9, isNext: true, fresh: [] }]);
});

test("what went up as it came tells nothing", () => {
  const { line, prompts, named } = listening();
  noteSent(line, noted("next", null), state);
  expect([prompts, named]).toEqual([[], []]);
});

test.each([
  ["next", true],
  ["retry", true],
  ["rewind", false],
  ["compacted", false],
])("a request that is %s goes on with the one before: %s", (relation, isNext) => {
  const { line, named } = listening();
  noteSent(line, noted(relation), state);
  expect(named[0]?.isNext).toBe(isNext);
});

test("a unit came in the turn of its block, and in this one where it has none", () => {
  const { line, named } = listening();
  noteSent(line, noted("next"), state);
  const turnOfUnit = named[0]?.turnOf;
  expect([0, 1, 2].map((unit) => turnOfUnit?.(unit))).toEqual([4, 9, 9]);
});
