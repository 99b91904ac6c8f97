import { expect, test } from "vitest";
import { newStream, readBody, turnOf } from "../../../test/support/ledger-kit.ts";
import { steppedClock } from "../../../test/support/stepped-clock.ts";
import type { CommandBatch, PlannedRequest } from "../../exchange/index.ts";
import { addAnswer, callKey, noWishes, plan } from "../../ledger/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { CommandRounds } from "./command-rounds.ts";
import { openLiveStream } from "./live-stream.ts";
import { noRounds } from "./planned-request.ts";
import type { Request } from "./read-request.ts";

const call = { type: "tool_use", id: "call_0", name: "aperture_read", input: { verb: "manifest" } };
const { units } = protocolOf({ protocol: "anthropic" }).answer.read(
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
  const { protocol, nonce } = newStream();
  const live = openLiveStream({
    key: "line",
    session: "session",
    generatedName: null,
    recordVersion: 0,
    wasManaged: false,
    isLookedUp: true,
    withheld: new Map(),
    ledger: { protocol, nonce, session: null, isComplete: true },
  });
  const ids = ["one", "two"].map((id) => {
    const wire = readBody({ model: "claude-opus-5-5", messages: [{ role: "user", content: id }] });
    const planned = plan(live.ledger, turnOf(wire), noWishes());
    const { leaf, path, report } = planned.plan;
    const answer = { units, usage: null, changesSeq: 0 };
    const { stream, nodes } = addAnswer(planned.stream, leaf, answer);
    live.ledger = stream;
    // A round reads only the body of the request.
    const request = { body: Buffer.alloc(0), wire } as Request;
    const inFlight = { ...noRounds, live, request, planned: null, path, leaf, units };
    rounds.start({ requestId: id } as PlannedRequest, { ...inFlight, end: nodes.at(-1)?.index ?? -1 });
    return report.leaf;
  });
  await live.runningCommands;
  expect(requests).toEqual(["one", "two"]);
  const texts = ids.map((beforeId) => live.commandResults.get(callKey({ id: "call_0", beforeId }))?.text);
  expect(texts).toEqual(["for one", "for two"]);
});
