import { describe, expect, it } from "vitest";
import { canonicalJson, must, sessionId, unwrap } from "../../src/base/index.ts";
import { emptyState, replayFrames, type State } from "../../src/engine/index.ts";
import { now, sentPath } from "../../src/engine/moment/index.ts";
import { protocolOf } from "../../src/protocols/index.ts";
import { openMemoryStore } from "../../src/store/index.ts";
import { describeMoment as described } from "../support/describe-moment.ts";
import { RecorderKit } from "../support/recorder-kit.ts";
import { readRecording, recordingNames } from "../support/recordings.ts";
import { buildBody, type RawMessage, rawBlock, rawMessage } from "../support/wire-body.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const isLong = process.env["APERTURE_TEST_LONG"] === "1";
const turnsMax = isLong ? Number.POSITIVE_INFINITY : 40;
/** Claude Code names its session; other clients are recognised by their history alone. */
const named = (name: string) => ({ "x-claude-code-session-id": name });
const forms = [
  ["named", named],
  ["recognised by its history", () => ({})],
] as const;

describe.each(forms)("a recorded session, %s", (_form, headersOf) => {
  it.each(recordingNames())("%s becomes one stream of what was sent", async (name) => {
    const kit = new RecorderKit(openMemoryStore());
    const recording = readRecording(name);
    let messages: RawMessage[] = [];
    const bodies: Buffer[] = [];
    for (const turn of recording.turns.slice(0, turnsMax)) {
      if (turn.k !== undefined) messages = messages.slice(0, turn.k);
      messages.push(...turn.c.map((message) => rawMessage(message, null)));
      const { bytes } = buildBody(recording, messages, null);
      const id = await kit.send(bytes, { headers: headersOf(name) });
      bodies.push(bytes);
      expectSentPath(unwrap(await kit.recorder.cache.log(sessionId("s-1"))).state(), bytes);
      await kit.answer(id, { content: turn.a });
      messages.push({ role: "assistant", bare: false, blocks: turn.a.map(rawBlock), header: null });
    }
    expect(kit.recorder.counts()).toMatchObject({ gaps: 0, unread: 0 });
    expect(await kit.sessions()).toEqual(["s-1"]);
    await expectBodies(kit, bodies);
    await expectOneLog(kit);
  });
});

/** The path of the last turn is the request, unit by unit, and each unit shows one block. */
function expectSentPath(state: State, bytes: Buffer): void {
  const request = must(readRequest(bytes, null), "the body can be read");
  const keys = [request.tools, request.system, ...request.messages].flatMap(({ units }) =>
    units.map(({ key }) => key),
  );
  const view = must(state.views.get(1), "the main view is open");
  const path = sentPath(now(state), view).map((id) => must(state.units.get(id), "it was sent"));
  expect(path.map(({ anchor }) => anchor)).toEqual(keys);
  const shown = path.flatMap(({ shows }) => shows.map(({ block }) => block));
  expect(new Set(shown).size).toBe(path.length);
}

async function expectBodies({ store }: RecorderKit, bodies: readonly Buffer[]): Promise<void> {
  for (const [at, bytes] of bodies.entries()) {
    const key = { session: sessionId("s-1"), exchange: at + 1, side: "client-request" } as const;
    expect(bytes.equals(unwrap(await store.body(key)))).toBe(true);
  }
}

/** The live state equals the state that the frames replay to. */
async function expectOneLog({ store, recorder }: RecorderKit): Promise<void> {
  const session = sessionId("s-1");
  const live = unwrap(await recorder.cache.log(session)).state();
  const frames = unwrap(await store.frames({ session, after: 0, limit: 100_000 }));
  const replayed = unwrap(replayFrames(emptyState(session), frames));
  expect(canonicalJson(described(now(live)))).toBe(canonicalJson(described(now(replayed))));
}
