// Replays every recorded session over HTTP: from a client through Aperture to an upstream that refuses
// everything the real one might refuse. Nothing may be refused, changed or lost.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashContent } from "../../src/base/index.ts";
import type { RequestDetail, SessionsPage } from "../../src/queries/answers/index.ts";
import { type ReplyBlock, type StrictUpstream, startStrictUpstream } from "../../src/testing/index.ts";
import { ask, jsonIn, modelHeaders, startTestApp, type TestApp } from "../support/app.ts";
import { clientBody, requestsOf } from "../support/client-body.ts";
import { type RecordedTurn, readRecording, recordingNames } from "../support/recordings.ts";
import { validRecording } from "../support/valid-recording.ts";

const isLong = process.env["APERTURE_TEST_LONG"] === "1";
const turnsMax = isLong ? Number.POSITIVE_INFINITY : 60;
/** Every so many bodies one is read back: a body far into a session takes the store some milliseconds. */
const readBackEvery = isLong ? 1 : 8;

type BodyPair = { readonly request: Buffer; readonly response: Buffer };
const sent = new Map<string, BodyPair[]>();
let upstream: StrictUpstream;
let app: TestApp;
let next: readonly ReplyBlock[] = [];

beforeAll(async () => {
  upstream = await startStrictUpstream({
    model: () => ({ content: next }),
    foreignSignatures: "accept",
    aliases: Object.fromEntries(modelNames().map((name) => [name, "claude-opus-4-5"])),
  });
  app = await startTestApp(upstream.url);
});

afterAll(async () => {
  await app.remove();
  await upstream.close();
});

function modelNames(): readonly string[] {
  const names = recordingNames().flatMap((name) => readRecording(name).models);
  return [...new Set(names)].filter((name) => !name.startsWith("claude-"));
}

describe("a recorded session, sent again", () => {
  it.each(recordingNames())("%s passes byte for byte", { timeout: 600_000 }, async (name) => {
    const recording = validRecording(readRecording(name));
    const bodies: BodyPair[] = [];
    for (const { turn, messages } of requestsOf({ turns: recording.turns.slice(0, turnsMax) })) {
      const model = turn.m?.model ?? recording.models[0] ?? "claude-opus-4-5";
      bodies.push(await sendUnchanged(name, clientBody(recording, messages, model), turn));
    }
    sent.set(name, bodies);
    await app.recorded();
    await expectRecorded(name, bodies);
  });

  it("is the same after a restart", { timeout: 600_000 }, async () => {
    const { dataDir } = app;
    await app.close();
    app = await startTestApp(upstream.url, { dataDir });
    expect(sent.size).toBe(recordingNames().length);
    for (const [name, bodies] of sent) await expectRecorded(name, bodies);
    expect(app.engine.status().counts.gaps).toBe(0);
  });
});

async function sendUnchanged(name: string, body: Buffer, turn: RecordedTurn): Promise<BodyPair> {
  next = turn.a as unknown as readonly ReplyBlock[];
  // Images of recordings are counted by their bytes here, so some need the wider window.
  const beta = { "anthropic-beta": "context-1m-2025-08-07" };
  const headers = { ...modelHeaders, ...beta, "x-claude-code-session-id": name };
  const answer = await ask(`${app.url}/v1/messages?beta=true`, { headers, body });
  const received = upstream.exchanges.at(-1);
  expect(received?.error, `${name}: ${received?.error?.message}`).toBeNull();
  expect(answer.status, answer.body.toString()).toBe(200);
  expect(received?.body.equals(body)).toBe(true);
  expect(received?.sent.equals(answer.body)).toBe(true);
  return { request: body, response: answer.body };
}

async function expectRecorded(name: string, bodies: readonly BodyPair[]): Promise<void> {
  const { rows: sessions } = jsonIn<SessionsPage>(await app.api("/sessions?limit=100"));
  const found = await Promise.all(
    sessions.map(async ({ id }) => jsonIn<RequestDetail>(await app.api(`/sessions/${id}/requests/1`))),
  );
  const first = hashContent(bodies[0]?.request ?? "");
  const at = found.findIndex((detail) => detail.bodies.some(({ hash }) => hash === first));
  const { id } = sessions[at] ?? { id: name };
  for (const [index, { request, response }] of bodies.entries()) {
    if (index % readBackEvery !== 0 && index !== bodies.length - 1) continue;
    const side = async (which: string) =>
      (await app.api(`/sessions/${id}/requests/${index + 1}/${which}`)).body;
    expect(request.equals(await side("client"))).toBe(true);
    expect(request.equals(await side("upstream"))).toBe(true);
    expect(response.equals(await side("response"))).toBe(true);
  }
}
