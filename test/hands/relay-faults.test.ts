// A fault inside a round reaches the client as it would without rounds.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { internalError, overloaded, rateLimited, type UpstreamFault } from "../../src/testing/index.ts";
import { modelHeaders } from "../support/app.ts";
import { parseAnswer } from "../support/parse-answer.ts";
import { prefixBreaks, promptOf, rejections, type TestClient } from "../support/test-client.ts";
import {
  call,
  closeAfterAll,
  forms,
  newTalker,
  ours,
  playTurns,
  type Scene,
  scene,
  shapeOf,
  text,
  theirs,
} from "./relay-kit.ts";

closeAfterAll();

/** Applies a fault to the second sampling of a scene, and to `times - 1` after it. */
function atSecondSampling(fault: UpstreamFault, times = 1): () => UpstreamFault | null {
  let seen = 0;
  return () => {
    seen += 1;
    return seen > 1 && seen <= 1 + times ? fault : null;
  };
}

const post = ({ app }: Scene, talker: TestClient) =>
  talker.post(app.url, talker.body([talker.next("question 0")]));

const refusals = [
  [429, rateLimited(7), "rate_limit_error"],
  [529, overloaded(), "overloaded_error"],
  [500, internalError(), "api_error"],
] as const;

/** The first answer only calls our tools, so the client would get nothing of it. */
const onlyOwnCall = [[ours()], [text("again")]] as const;
const textAndOwnCall = [[text("one"), ours()], [text("again")]] as const;
const dead: UpstreamFault = { type: "reset-before-head" };

describe("a refused second sampling after an answer without text", () => {
  test.each(refusals)("with %i is an error event of a streamed answer", async (_status, fault, type) => {
    const played = await scene(onlyOwnCall, atSecondSampling(fault));
    const talker = newTalker({ stream: true });
    const answer = await post(played, talker);
    const answerRead = parseAnswer(answer);
    expect([answer.status, answer.isWhole, shapeOf(answerRead)]).toEqual([200, true, []]);
    expect(answerRead.error).toMatchObject({ type });
    expect(answerRead.events.at(-1)).toBe("error");
    await expectContinued(played, talker, 1);
  });

  test.each(refusals)("with %i is passed on instead of a JSON answer", async (status, fault, type) => {
    const played = await scene(onlyOwnCall, atSecondSampling(fault));
    const talker = newTalker({});
    const answer = await post(played, talker);
    expect([answer.status, answer.isWhole]).toEqual([status, true]);
    expect(parseAnswer(answer).error).toMatchObject({ type });
    if (status === 429) expect(answer.headers["retry-after"]).toBe("7");
    await expectContinued(played, talker, 1);
  });

  test("without a connection is an error event, or an error of ours", async () => {
    const streamed = await scene(onlyOwnCall, atSecondSampling(dead, 2));
    const answerRead = parseAnswer(await post(streamed, newTalker({ stream: true })));
    expect([shapeOf(answerRead), answerRead.error]).toMatchObject([[], { type: "api_error" }]);
    const played = await scene(onlyOwnCall, atSecondSampling(dead, 2));
    const answer = await post(played, newTalker({}));
    expect([answer.status, parseAnswer(answer).error]).toMatchObject([502, { type: "api_error" }]);
  });
});

describe.each(forms)("a failed second sampling keeps the first part of an answer %s", (_name, more) => {
  const compressed: UpstreamFault = { type: "headers", headers: { "content-encoding": "br" } };
  test("400", async () => {
    const no: UpstreamFault = {
      type: "status",
      status: 400,
      errorType: "invalid_request_error",
      message: "No.",
    };
    const played = await scene(textAndOwnCall, atSecondSampling(no));
    const answerRead = parseAnswer(await post(played, newTalker(more)));
    expect([shapeOf(answerRead), answerRead.stop, answerRead.error]).toEqual([
      ["text one"],
      "end_turn",
      null,
    ]);
    await played.app.recorded();
  });

  test.each([
    ...refusals.map(([status, fault]) => [String(status), fault] as const),
    ["no connection", dead] as const,
    ["compressed against the request", compressed] as const,
  ])("%s", async (_status, fault) => {
    const played = await scene(
      [...textAndOwnCall, [text("two")], [text("three")]],
      atSecondSampling(fault, fault === dead ? 2 : 1),
    );
    const talker = newTalker(more);
    const first = talker.next("question 0");
    const answer = await post(played, talker);
    const answerRead = parseAnswer(answer);
    expect([answer.status, answer.isWhole, shapeOf(answerRead)]).toEqual([200, true, ["text one"]]);
    expect([answerRead.stop, answerRead.error]).toEqual(["end_turn", null]);
    talker.messages = [first, { role: "assistant", content: answerRead.content }];
    await played.app.recorded();
    await playTurns(played, talker, 2);
    expect(JSON.stringify(played.bodies().at(-1)?.toString())).toContain("CONTEXT MANIFEST");
  });
});

describe("a second sampling", () => {
  test.each(forms)("that breaks off is an error for the client: %s", async (_name, more) => {
    const played = await scene(textAndOwnCall, atSecondSampling(breaksOff(more)));
    const talker = newTalker(more);
    const { status, isWhole } = await post(played, talker);
    // An answer in one piece is held until it is complete, so nothing of it was sent.
    expect([status, isWhole]).toEqual("stream" in more ? [200, false] : [502, true]);
    await expectContinued(played, talker);
  });
});

function breaksOff(more: object): UpstreamFault {
  return "stream" in more
    ? { type: "reset-after-events", events: 3 }
    : { type: "reset-after-bytes", bytes: 40 };
}

/** The client repeats its request, then asks something else. Its first commands do not run again. */
async function expectContinued(played: Scene, talker: TestClient, from = 0): Promise<void> {
  await playTurns(played, talker, 2);
  const bodies = played.bodies();
  const [last = Buffer.alloc(0), again, ...rest] = [bodies[from], ...bodies.slice(2)];
  // Only `max_tokens` may differ, which is the client's again.
  expect(promptOf(again ?? Buffer.alloc(0))).toEqual(promptOf(last));
  expect(prefixBreaks([last, ...rest])).toBe(0);
}

describe("a client that leaves", () => {
  test.each(forms)("during the second sampling ends it: %s", async (_name, more) => {
    const note = call("aperture_note", { verb: "create", text: "the client has left by then" });
    const slow: UpstreamFault = { type: "slow-head", ms: 3_000 };
    const played = await scene([[text("one"), ours()], [note]], atSecondSampling(slow));
    const talker = newTalker(more);
    const abort = new AbortController();
    const { session } = talker;
    const asked = fetch(`${played.app.url}/v1/messages`, {
      method: "POST",
      headers: { ...modelHeaders, "x-claude-code-session-id": session ?? "" },
      body: talker.body([talker.next("question 0")]),
      signal: abort.signal,
    }).then((response) => response.text());
    while (played.exchanges().length < 2) await sleep(5);
    abort.abort();
    await expect(asked).rejects.toThrow();
    await until(() => played.exchanges()[1]?.closed === "client-left");
    await played.app.recorded();
    expect(played.exchanges()).toHaveLength(2);
    const after = await scene([[ours("diff")], [text("end")]]);
    await playTurns(after, talker, 1);
    expect(JSON.stringify(after.bodies().map(String))).not.toContain("the client has left by then");
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

describe("other kinds of requests", () => {
  test.each(forms)("that accept compression get plain answers: %s", async (_name, more) => {
    const played = await scene([[text("one"), ours()], [text("two")]]);
    const headers = { "accept-encoding": "gzip, br" };
    const [first] = await playTurns(played, newTalker(more, { headers }), 1);
    expect(first && shapeOf(first)).toEqual(["text one", "text two"]);
    const response = played.exchanges().map(({ rawHeaders }) => rawHeaders.join("|").toLowerCase());
    expect(response.every((names) => names.includes("accept-encoding|identity"))).toBe(true);
  });

  test.each(forms)("with HTTP 1.0 get a body that ends with its connection: %s", async (_name, more) => {
    const played = await scene([[text("one"), ours()], [text("two")]]);
    const got = await oldClient(played, newTalker(more));
    expect(got.toLowerCase()).not.toContain("transfer-encoding");
    const [head = "", body = ""] = got.split("\r\n\r\n");
    const type = /content-type: (.*)/i.exec(head)?.[1] ?? "";
    const answer = { status: 200, headers: { "content-type": type }, body: Buffer.from(body), isWhole: true };
    expect(shapeOf(parseAnswer(answer))).toEqual(["text one", "text two"]);
  });

  test("with HTTP 1.0 never get half an answer as a whole one", async () => {
    const played = await scene([[text("one"), ours()], [text("again")]], atSecondSampling(breaksOff({})));
    expect(await oldClient(played, newTalker({}))).toContain("HTTP/1.1 502 ");
  });
});

function oldClient({ app }: Scene, talker: TestClient): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const body = talker.body([talker.next("question 0")]);
  const headers = { ...modelHeaders, host: `${hostname}:${port}`, "content-length": String(body.length) };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return new Promise((resolve, reject) => {
    const got: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => {
      socket.write(`POST /v1/messages HTTP/1.0\r\n${lines.join("\r\n")}\r\n\r\n`);
      socket.write(body);
    });
    socket.on("data", (chunk: Buffer) => got.push(chunk));
    socket.on("error", reject);
    socket.on("end", () => resolve(Buffer.concat(got).toString()));
  });
}

describe("a call of our tools that has reached a client", () => {
  test.each([
    ["alone", [text("one"), ours()]],
    ["beside the client's", [theirs(), ours()]],
    ["before the client's", [ours(), theirs()]],
  ])("comes back with an error, and the model reads its real result: %s", async (_name, reply) => {
    const played = await scene([reply, [text("two")], [text("three")], [text("four")]]);
    const talker = newTalker({});
    await played.app.recorded();
    const first = talker.next("question 0");
    await talker.post(played.app.url, talker.body([first]));
    await played.app.recorded();
    const raw = JSON.parse(played.exchanges()[0]?.sent.toString() ?? "{}") as SampledMessage;
    const results = raw.content.filter(({ type }) => type === "tool_use").map(resultOf);
    talker.messages = [first, { role: "assistant", content: raw.content }];
    const second = { role: "user", content: results };
    const body = talker.body([...talker.messages, second]);
    const answer = await talker.post(played.app.url, body);
    expect([answer.status, rejections(played.exchanges())]).toEqual([200, []]);
    const sent = played.bodies().at(-1)?.toString() ?? "";
    expect(sent).toContain("CONTEXT MANIFEST");
    expect(sent).not.toContain(`No such tool available: aperture_read`);
  });
});

type Block = { readonly type: string; readonly [field: string]: unknown };
type SampledMessage = { readonly content: readonly Block[] };

function resultOf({ id, name }: Block): Block {
  const isOurs = String(name).startsWith("aperture_");
  const content = isOurs ? `No such tool available: ${name}` : "found it";
  return { type: "tool_result", tool_use_id: id, content, ...(isOurs ? { is_error: true } : {}) };
}
