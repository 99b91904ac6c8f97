import { expect, test } from "vitest";
import { steppedClock } from "../../base/index.ts";
import { ingestRequest, readAnswer } from "../../protocols/index.ts";
import type { CommandsAsked, Sending } from "../desk-port.ts";
import { openLine } from "./line.ts";
import { callKey } from "./own-calls.ts";
import { rootPlace } from "./place.ts";
import type { Read } from "./read-request.ts";
import type { SentPath } from "./rendering.ts";
import { Rounds } from "./rounds.ts";

const call = { type: "tool_use", id: "call_0", name: "aperture_read", input: { verb: "manifest" } };
const { units } = readAnswer(
  Buffer.from(JSON.stringify({ type: "message", content: [call], stop_reason: "tool_use" })),
  "application/json",
);

test("calls of two answers by the same id have a result each", async () => {
  const asked: string[] = [];
  const rounds = new Rounds({
    clock: steppedClock(1),
    mode: () => "auto",
    command: ({ request, calls }: CommandsAsked) => {
      asked.push(request);
      return Promise.resolve(calls.map(({ id }) => ({ id, text: `for ${request}`, isError: false })));
    },
  });
  const named = { key: "line", session: "session", talkName: null, nonce: "k7f3", record: 0 };
  const line = openLine({ ...named, wasManaged: false, isAsked: true, numbersOf: null });
  const request = ingestRequest(
    Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"}]}'),
    null,
  );
  for (const id of ["one", "two"]) {
    const leaf = rootPlace(id);
    // Of a path only its head is looked at, of a sending its request, of a read nothing.
    const path = { head: { ownTools: ["aperture_read"], hasTextCommands: false }, places: [] };
    const said = { path: path as unknown as SentPath, read: { body: Buffer.alloc(0), request } as Read };
    const heard = { line, units, leaf, end: leaf, rounds: 0, sinceMs: null, spent: 0, ...said };
    rounds.begin({ request: id } as Sending, heard);
  }
  await line.doing;
  expect(asked).toEqual(["one", "two"]);
  const textOf = (before: string) => line.results.get(callKey({ id: "call_0", before }))?.text;
  expect([textOf("one"), textOf("two")]).toEqual(["for one", "for two"]);
});
