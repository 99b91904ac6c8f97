// What goes wrong inside the loop reaches the client as it would have without it.
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { brokenInside, type Fault, overloaded, rateLimited } from "../../src/testing/index.ts";
import { modelHeaders } from "../support/app.ts";
import { heardIn } from "../support/heard.ts";
import { prefixBreaks, promptOf, rejections, type Talker } from "../support/talker.ts";
import {
  call,
  endsScenes,
  forms,
  ours,
  type Scene,
  scene,
  shapeOf,
  talk,
  text,
  theirs,
  turns,
} from "./relay-kit.ts";

endsScenes();

/** Happens to the second sampling of a scene, and as often after that. */
function second(fault: Fault, times = 1): () => Fault | null {
  let seen = 0;
  return () => {
    seen += 1;
    return seen > 1 && seen <= 1 + times ? fault : null;
  };
}

const post = ({ app }: Scene, talker: Talker) =>
  talker.post(app.url, talker.body([talker.next("question 0")]));

const refusals = [
  [429, rateLimited(7), "rate_limit_error"],
  [529, overloaded(), "overloaded_error"],
  [500, brokenInside(), "api_error"],
] as const;

/** Said to us, and nothing else: what the client would get of it is no answer. */
const unsaid = [[ours()], [text("again")]] as const;
const said = [[text("one"), ours()], [text("again")]] as const;
const dead: Fault = { type: "reset-before-head" };

describe("a second sampling that is refused where nothing was said before", () => {
  test.each(refusals)("with %i is an event of an answer in events", async (_status, fault, type) => {
    const given = await scene(unsaid, second(fault));
    const talker = talk({ stream: true });
    const answer = await post(given, talker);
    const heard = heardIn(answer);
    expect([answer.status, answer.isWhole, shapeOf(heard)]).toEqual([200, true, []]);
    expect(heard.error).toMatchObject({ type });
    expect(heard.events.at(-1)).toBe("error");
    await goesOnAfter(given, talker, 1);
  });

  test.each(refusals)("with %i passes as it is in place of one JSON value", async (status, fault, type) => {
    const given = await scene(unsaid, second(fault));
    const talker = talk({});
    const answer = await post(given, talker);
    expect([answer.status, answer.isWhole]).toEqual([status, true]);
    expect(heardIn(answer).error).toMatchObject({ type });
    if (status === 429) expect(answer.headers["retry-after"]).toBe("7");
    await goesOnAfter(given, talker, 1);
  });

  test("because nobody answers is an event too, or an error of ours", async () => {
    const streamed = await scene(unsaid, second(dead, 2));
    const heard = heardIn(await post(streamed, talk({ stream: true })));
    expect([shapeOf(heard), heard.error]).toMatchObject([[], { type: "api_error" }]);
    const given = await scene(unsaid, second(dead, 2));
    const answer = await post(given, talk({}));
    expect([answer.status, heardIn(answer).error]).toMatchObject([502, { type: "api_error" }]);
  });
});

describe.each(forms)("a second sampling that fails takes nothing back of an answer %s", (_name, more) => {
  const compressed: Fault = { type: "headers", headers: { "content-encoding": "br" } };
  test("400", async () => {
    const no: Fault = { type: "status", status: 400, errorType: "invalid_request_error", message: "No." };
    const given = await scene(said, second(no));
    const heard = heardIn(await post(given, talk(more)));
    expect([shapeOf(heard), heard.stop, heard.error]).toEqual([["text one"], "end_turn", null]);
    await given.app.recorded();
  });

  test.each([
    ...refusals.map(([status, fault]) => [String(status), fault] as const),
    ["nobody there", dead] as const,
    ["compressed all the same", compressed] as const,
  ])("%s", async (_status, fault) => {
    const given = await scene(
      [...said, [text("two")], [text("three")]],
      second(fault, fault === dead ? 2 : 1),
    );
    const talker = talk(more);
    const first = talker.next("question 0");
    const answer = await post(given, talker);
    const heard = heardIn(answer);
    expect([answer.status, answer.isWhole, shapeOf(heard)]).toEqual([200, true, ["text one"]]);
    expect([heard.stop, heard.error]).toEqual(["end_turn", null]);
    talker.messages = [first, { role: "assistant", content: heard.content }];
    await given.app.recorded();
    await turns(given, talker, 2);
    expect(JSON.stringify(given.bodies().at(-1)?.toString())).toContain("CONTEXT MANIFEST");
  });
});

describe("a second sampling", () => {
  test.each(forms)("because it breaks off is an error for the client: %s", async (_name, more) => {
    const given = await scene(said, second(breaksOff(more)));
    const talker = talk(more);
    const { status, isWhole } = await post(given, talker);
    // Of what is held until it is whole, nothing was sent.
    expect([status, isWhole]).toEqual("stream" in more ? [200, false] : [502, true]);
    await goesOnAfter(given, talker);
  });
});

function breaksOff(more: object): Fault {
  return "stream" in more
    ? { type: "reset-after-events", events: 3 }
    : { type: "reset-after-bytes", bytes: 40 };
}

/** The client asks the same again, and then something else. What was done for it is not done again. */
async function goesOnAfter(given: Scene, talker: Talker, from = 0): Promise<void> {
  await turns(given, talker, 2);
  const bodies = given.bodies();
  const [last = Buffer.alloc(0), again, ...rest] = [bodies[from], ...bodies.slice(2)];
  // How much may be answered is left to the client again.
  expect(promptOf(again ?? Buffer.alloc(0))).toEqual(promptOf(last));
  expect(prefixBreaks([last, ...rest])).toBe(0);
}

describe("a client that leaves", () => {
  test.each(forms)("while the second sampling is under way ends it: %s", async (_name, more) => {
    const note = call("aperture_note", { verb: "create", text: "the client has left by then" });
    const slow: Fault = { type: "slow-head", ms: 3_000 };
    const given = await scene([[text("one"), ours()], [note]], second(slow));
    const talker = talk(more);
    const left = new AbortController();
    const { session } = talker;
    const asked = fetch(`${given.app.url}/v1/messages`, {
      method: "POST",
      headers: { ...modelHeaders, "x-claude-code-session-id": session ?? "" },
      body: talker.body([talker.next("question 0")]),
      signal: left.signal,
    }).then((response) => response.text());
    while (given.exchanges().length < 2) await sleep(5);
    left.abort();
    await expect(asked).rejects.toThrow();
    await until(() => given.exchanges()[1]?.closed === "client-left");
    await given.app.recorded();
    expect(given.exchanges()).toHaveLength(2);
    const after = await scene([[ours("diff")], [text("end")]]);
    await turns(after, talker, 1);
    expect(JSON.stringify(after.bodies().map(String))).not.toContain("the client has left by then");
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

describe("other ways to ask", () => {
  test.each(forms)("who accepts compressed answers gets plain ones: %s", async (_name, more) => {
    const given = await scene([[text("one"), ours()], [text("two")]]);
    const headers = { "accept-encoding": "gzip, br" };
    const [first] = await turns(given, talk(more, { headers }), 1);
    expect(first && shapeOf(first)).toEqual(["text one", "text two"]);
    const asked = given.exchanges().map(({ rawHeaders }) => rawHeaders.join("|").toLowerCase());
    expect(asked.every((names) => names.includes("accept-encoding|identity"))).toBe(true);
  });

  test.each(forms)("HTTP 1.0 gets a body that ends with its connection: %s", async (_name, more) => {
    const given = await scene([[text("one"), ours()], [text("two")]]);
    const got = await oldClient(given, talk(more));
    expect(got.toLowerCase()).not.toContain("transfer-encoding");
    const [head = "", body = ""] = got.split("\r\n\r\n");
    const type = /content-type: (.*)/i.exec(head)?.[1] ?? "";
    const answer = { status: 200, headers: { "content-type": type }, body: Buffer.from(body), isWhole: true };
    expect(shapeOf(heardIn(answer))).toEqual(["text one", "text two"]);
  });

  test("HTTP 1.0 is not left with half of it as if it were all", async () => {
    const given = await scene([[text("one"), ours()], [text("again")]], second(breaksOff({})));
    expect(await oldClient(given, talk({}))).toContain("HTTP/1.1 502 ");
  });
});

function oldClient({ app }: Scene, talker: Talker): Promise<string> {
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

describe("a call of ours that has got through to a client", () => {
  test.each([
    ["alone", [text("one"), ours()]],
    ["beside the client's", [theirs(), ours()]],
    ["before the client's", [ours(), theirs()]],
  ])("comes back with an error, and the model reads what it came to: %s", async (_name, said) => {
    const given = await scene([said, [text("two")], [text("three")], [text("four")]]);
    const talker = talk({});
    await given.app.recorded();
    const first = talker.next("question 0");
    await talker.post(given.app.url, talker.body([first]));
    await given.app.recorded();
    const raw = JSON.parse(given.exchanges()[0]?.sent.toString() ?? "{}") as Sampled;
    const results = raw.content.filter(({ type }) => type === "tool_use").map(failed);
    talker.messages = [first, { role: "assistant", content: raw.content }];
    const second = { role: "user", content: results };
    const body = talker.body([...talker.messages, second]);
    const answer = await talker.post(given.app.url, body);
    expect([answer.status, rejections(given.exchanges())]).toEqual([200, []]);
    const sent = given.bodies().at(-1)?.toString() ?? "";
    expect(sent).toContain("CONTEXT MANIFEST");
    expect(sent).not.toContain(`No such tool available: aperture_read`);
  });
});

type Block = { readonly type: string; readonly [field: string]: unknown };
type Sampled = { readonly content: readonly Block[] };

function failed({ id, name }: Block): Block {
  const isOurs = String(name).startsWith("aperture_");
  const content = isOurs ? `No such tool available: ${name}` : "found it";
  return { type: "tool_result", tool_use_id: id, content, ...(isOurs ? { is_error: true } : {}) };
}
