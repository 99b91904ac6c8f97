import { expect, test } from "vitest";
import { newStream, readBody, turnOf } from "../../test/support/ledger-kit.ts";
import { must, PagedTable } from "../base/index.ts";
import type { LevelWish } from "../exchange/index.ts";
import { noWishes } from "./all-wishes.ts";
import { defaultAwareness } from "./awareness-settings.ts";
import { type LedgerStream, nameBlocks, restartStream } from "./ledger-stream.ts";
import { plan } from "./plan.ts";
import type { Plan, PlanContext } from "./plan-request.ts";

// A client that offers our tools as its own, numbers its blocks first, and keeps its texts where they are.
const ownTools: Partial<PlanContext> = {
  awareness: { ...defaultAwareness, commands: "client" },
  keepsTail: true,
  isFullReport: true,
};
const mark = { cache_control: { type: "ephemeral" } };
const text = (words: string, isMarked = false) => ({ type: "text", text: words, ...(isMarked && mark) });
const tools = [{ name: "aperture_read", input_schema: { type: "object" } }];

function bodyOf({ pieces }: Plan) {
  return JSON.parse(Buffer.concat(pieces).toString()) as {
    readonly tools: readonly unknown[];
    readonly system?: unknown;
    readonly messages: readonly { readonly content: readonly { readonly cache_control?: unknown }[] }[];
  };
}

function unnumbered(): LedgerStream {
  const stream = newStream(false);
  return { ...stream, numbers: { ...stream.numbers, session: null } };
}

test("nothing is added to the head of a client that offers our tools itself", () => {
  const wire = readBody({
    model: "claude-sonnet-5",
    tools,
    messages: [{ role: "user", content: [text("a")] }],
  });
  const { plan: made } = plan(unnumbered(), turnOf(wire, ownTools), noWishes());
  const { tools: sent, system, messages } = bodyOf(made);
  expect([sent, system]).toEqual([tools, undefined]);
  expect(JSON.stringify(messages)).not.toContain("Context notes");
});

test("units have the blocks that the log has named, and no others", () => {
  const content = [text("a"), text("b"), text("a")];
  const wire = readBody({ model: "claude-sonnet-5", messages: [{ role: "user", content }] });
  const [a, b] = wire.messageKeys;
  const named = nameBlocks(unnumbered(), [
    { key: must(a, "it has a key"), block: 7, message: 1, turn: 1 },
    { key: must(a, "it has a key"), block: 9, message: 2, turn: 1 },
  ]);
  const { plan: made, stream } = plan(named, turnOf(wire, ownTools), noWishes());
  const blocks = made.report.fresh.flatMap(({ clientIndex, numbered }) =>
    clientIndex === null ? [] : [numbered?.block ?? null],
  );
  expect(blocks).toEqual([7, null, 9]);
  expect(b).not.toBe(a);
  const again = plan(restartStream(stream), turnOf(wire, ownTools), noWishes()).plan;
  expect(again.report.fresh.every(({ numbered }) => numbered === null)).toBe(true);
});

test("a note that stays is cached with the unit before it", () => {
  const content = [text("a"), text("b", true)];
  const wire = readBody({ model: "claude-sonnet-5", messages: [{ role: "user", content }] });
  const { plan: made } = plan(unnumbered(), turnOf(wire, ownTools), noWishes());
  const sent = bodyOf(made).messages.flatMap((message) => message.content);
  expect(sent.findIndex(({ cache_control: found }) => found !== undefined)).toBe(sent.length - 1);
  expect(JSON.stringify(sent.at(-1))).toContain("CONTEXT MANIFEST");
});

test("new units have their wished level at once if there is no room for more", () => {
  const long = "a word and another one ".repeat(50);
  const wire = readBody({ model: "claude-sonnet-5", messages: [{ role: "user", content: [text(long)] }] });
  const key = must(wire.messageKeys[0], "it has a key");
  const named = nameBlocks(unnumbered(), [{ key, block: 7, message: 1, turn: 1 }]);
  const wish: LevelWish = { block: 7, as: "trimmed", text: "a word", input: null, tokens: 2, reason: "" };
  const wishes = { ...noWishes(), levels: PagedTable.empty<LevelWish>().withAll([[7, wish]]) };
  const planWith = (arrival: PlanContext["arrival"]): string =>
    JSON.stringify(bodyOf(plan(named, turnOf(wire, { ...ownTools, arrival }), wishes).plan).messages);
  expect(planWith("lossless")).toContain(long.trim());
  expect(planWith("wished")).not.toContain(long.trim());
  expect(planWith("wished")).toMatch(/#7 trimmed/);
});
