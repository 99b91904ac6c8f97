import { expect, test } from "vitest";
import { steppedClock } from "../../../test/support/stepped-clock.ts";
import type { CommandBatch, PlannedRequest } from "../../exchange/index.ts";
import { callKey, rootNode, type SentPath } from "../../ledger/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { CommandRounds } from "./command-rounds.ts";
import { openLiveStream } from "./live-stream.ts";
import type { ReceivedRequest } from "./read-request.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readAnswer = anthropic.answer.read;
const readRequest = anthropic.read.request;

const call = { type: "tool_use", id: "call_0", name: "aperture_read", input: { verb: "manifest" } };
const { units } = readAnswer(
  Buffer.from(JSON.stringify({ type: "message", content: [call], stop_reason: "tool_use" })),
  "application/json",
);

test("calls of two answers with the same id have a result each", async () => {
  const requests: string[] = [];
  const rounds = new CommandRounds({
    clock: steppedClock(1),
    mode: () => "auto",
    runCommands: ({ requestId, calls }: CommandBatch) => {
      requests.push(requestId);
      return Promise.resolve(calls.map(({ id }) => ({ id, text: `for ${requestId}`, isError: false })));
    },
  });
  const stream = openLiveStream({
    protocol: protocolOf({ protocol: "anthropic" }),
    key: "line",
    session: "session",
    generatedName: null,
    nonce: "k7f3",
    recordVersion: 0,
    wasManaged: false,
    isLookedUp: true,
    sessionNumbers: null,
  });
  const request = readRequest(Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"}]}'), null);
  for (const id of ["one", "two"]) {
    const leaf = rootNode(id);
    // A round reads only the head of the path and the id of the planned request.
    const path = { head: { ownTools: ["aperture_read"], hasTextCommands: false } };
    rounds.start({ requestId: id } as PlannedRequest, {
      stream,
      received: { body: Buffer.alloc(0), request } as ReceivedRequest,
      path: path as unknown as SentPath,
      rounds: 0,
      units,
      leaf,
      firstRoundMs: null,
      answerTokens: 0,
      end: leaf,
    });
  }
  await stream.runningCommands;
  expect(requests).toEqual(["one", "two"]);
  const textOf = (before: string) =>
    stream.commandResults.get(callKey({ id: "call_0", beforeId: before }))?.text;
  expect([textOf("one"), textOf("two")]).toEqual(["for one", "for two"]);
});
