// A selection reaches a model that binds its reasoning, through the engine's own thread.
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { SelectAnswer } from "../../src/execute/index.ts";
import type {
  BlockDetail,
  ExpansionAnswer,
  ManifestAnswer,
  SessionsPage,
  StateRow,
} from "../../src/queries/answers/index.ts";
import { type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, startTestApp, type TestApp } from "../support/app.ts";
import { prefixBreaks, rejections, TestClient } from "../support/test-client.ts";

let upstream: StrictUpstream;
let app: TestApp;
let session: string;
const talker = new TestClient();

beforeAll(async () => {
  upstream = await startStrictUpstream({
    model: () => ({
      content: [
        { type: "thinking", thinking: `thought ${talker.messages.length}` },
        { type: "text", text: "said" },
      ],
    }),
  });
  // A busy machine needs long deadlines.
  const patient = { deadlineMs: 20_000, limits: { planMs: 30_000 } };
  app = await startTestApp(upstream.url, { mode: "auto", ...patient });
  for (const prompt of ["one", "two", "three"]) await talker.turn(app.url, prompt);
  await app.recorded();
  session = jsonIn<SessionsPage>(await app.api("/sessions")).rows[0]?.id ?? "";
});
afterAll(async () => {
  await app.remove();
  await upstream.close();
});

async function select(blocks: readonly number[]): Promise<SelectAnswer> {
  const headers = { authorization: `Bearer ${app.token}` };
  const url = `${app.url}/api/v1/sessions/${session}/selection`;
  return jsonIn(await ask(url, { method: "PUT", headers, body: JSON.stringify({ blocks }) }));
}
const read = async <T>(path: string): Promise<T> => jsonIn<T>(await app.api(`/sessions/${session}${path}`));
const lastBody = () => upstream.exchanges.at(-1)?.body.toString() ?? "";

it("the state has the marks of the strip: cached, reserved, and the forecast", async () => {
  const { marks, window } = await read<StateRow>("/state");
  expect(marks).toMatchObject({ reserved: 4_000, changedFrom: null });
  // The client does not say when it compacts; the figure was observed.
  expect(marks.compactsAt).toBe((window.size ?? 0) - 33_000);
  expect(marks.cached?.tokens).toBeGreaterThan(0);
  expect(marks.cached?.share).toBeLessThanOrEqual(1);
  expect(marks.forecast?.next).toHaveLength(5);
  expect(marks.forecast?.next.at(-1)).toBeGreaterThan(window.used);
  const { tokens } = await read<ManifestAnswer>("/manifest");
  expect(tokens).toBeGreaterThan(20);
});

it("a block has the same sizes in the list and in its detail", async () => {
  const { blocks } = await read<StateRow>("/state");
  for (const { n, tokens, sizes, exact } of blocks) {
    const { block, levels } = await read<BlockDetail>(`/blocks/${n}`);
    expect([block.tokens, block.sizes, block.exact]).toEqual([tokens, sizes, exact]);
    expect(levels.find(({ level }) => level === "original")?.tokens).toBe(sizes.original);
  }
});

it("the next turn names the selection, and the turn after clearing does not", async () => {
  const { blocks } = await read<StateRow>("/state");
  const [one, other] = blocks.filter(({ kind }) => kind === "user").map(({ n }) => n);
  const answer = await select([one ?? 0, other ?? 0, 4_000_000]);
  expect(answer).toMatchObject({ mode: "auto", skipped: [{ block: 4_000_000 }] });
  expect(answer.selected.map(({ block }) => block)).toEqual([one, other]);
  expect(answer.told).toContain(`#${one}`);
  await talker.turn(app.url, "four");
  expect(lastBody()).toContain(`[user-selected] #${one}`);
  await app.recorded();
  expect((await select([])).told).toBeNull();
  await talker.turn(app.url, "five");
  const tail = lastBody().slice(lastBody().lastIndexOf("CONTEXT MANIFEST"));
  expect(tail).not.toContain("[user-selected]");
  expect(rejections(upstream.exchanges)).toEqual([]);
  expect(prefixBreaks(upstream.exchanges.map(({ body }) => body))).toBe(0);
});

it("the manifest agrees with the state, and reasoning is read back from the store", async () => {
  await app.recorded();
  await vi.waitFor(async () => {
    const manifest = await read<ManifestAnswer>("/manifest");
    const { turn, blocks } = await read<StateRow>("/state");
    expect(manifest).toMatchObject({ mode: "auto", turn: turn + 1 });
    const counted = blocks.filter((block) => block.counted).length;
    expect(manifest.text).toMatch(
      new RegExp(`^\\[CONTEXT MANIFEST ---- turn ${turn + 1} \\| ${counted} blocks`),
    );
  });
  const { blocks } = await read<StateRow>("/state");
  const thought = blocks.find(({ kind }) => kind === "reasoning");
  await vi.waitFor(async () => {
    const expansion = await read<ExpansionAnswer>(`/expansion?block=${thought?.n}`);
    expect(expansion.rows).toMatchObject([{ kind: "reasoning", signed: true, problem: null }]);
    expect(expansion.text).toMatch(/^\[---- preserved reasoning #\d+, message \d+, turn 1/);
  });
  const range = `${thought?.message}..${thought?.message}`;
  const whole = await read<ExpansionAnswer>(`/expansion?messages=${range}`);
  expect(whole.rows.map(({ kind }) => kind)).toEqual(["reasoning", "assistant"]);
});
