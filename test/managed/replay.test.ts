// Every recorded session once more, managed, towards a model that binds its reasoning: nothing is refused,
// every body goes on from the one before it, and the model is told exactly what the client said.
import { describe, expect, it } from "vitest";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { clientBody } from "../support/client-body.ts";
import { DeskKit } from "../support/desk-kit.ts";
import {
  type RecordedTurn,
  readRecording,
  recordingNames,
  type WireBlock,
  type WireMessage,
} from "../support/recordings.ts";
import { validRecording } from "../support/valid-recording.ts";

const turnsMax = process.env["APERTURE_TEST_LONG"] === "1" ? Number.POSITIVE_INFINITY : 40;
const model = "claude-opus-5-5";
const headers = { "x-aperture-session": "replayed" };

describe("a recorded session, managed", () => {
  it.each(recordingNames())(
    "%s is never refused, and only ever extended",
    { timeout: 600_000 },
    async (name) => {
      const recording = validRecording(readRecording(name));
      let next: readonly ReplyBlock[] = [];
      // What is left out when a result comes is looked at elsewhere; here every word is compared.
      const place = { handling: () => ({ arrival: "off" as const }), windowOf: () => 10_000_000 };
      const kit = new DeskKit({ model: () => ({ content: next }), place });
      let held: readonly WireMessage[] = [];
      let before: readonly string[] = [];
      let extended = 0;
      const turns = recording.turns.slice(0, turnsMax);
      for (const [at, turn] of turns.entries()) {
        const isAppend = (turn.k ?? held.length) >= held.length;
        const messages = [...held.slice(0, turn.k ?? held.length), ...turn.c];
        next = replyOf(turn, at);
        const { attempts, sending, body } = await kit.post(clientBody(recording, messages, model), {
          headers,
        });
        expect(attempts.map(({ problem }) => problem)).toEqual([null]);
        expect(sending.rendering).toBe("managed");
        const sent = unitsOf(JSON.parse(attempts[0]?.body ?? "{}") as Body);
        expect(saidIn(sent)).toEqual(saidIn(unitsOf({ messages })));
        if (isAppend && at > 0) {
          expect(sent.slice(0, before.length)).toEqual(before);
          extended += 1;
        }
        before = sent;
        const { content } = JSON.parse(answerOf(body)) as { readonly content: readonly WireBlock[] };
        held = [...messages, { role: "assistant", content }];
      }
      expect(extended).toBeGreaterThan(turns.length / 2 - 1);
    },
  );
});

type Body = { readonly messages: readonly WireMessage[] };

/** One string for each block, with who says it; marks are no part of it. */
function unitsOf({ messages }: Body): readonly string[] {
  return messages.flatMap(({ role, content, ...rest }) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return blocks.map(({ cache_control: _mark, ...block }: WireBlock) => JSON.stringify([role, rest, block]));
  });
}

/** What was said, without reasoning, which a fork loses, and without our lines. */
function saidIn(units: readonly string[]): readonly string[] {
  return units.filter(
    (unit) =>
      !/"type":"(?:redacted_)?thinking"/.test(unit) &&
      !/"\[(?:CONTEXT MANIFEST )?k7f3 |"# Context notes/.test(unit),
  );
}

function replyOf({ a }: RecordedTurn, at: number): readonly ReplyBlock[] {
  const said = a.filter(
    ({ type }) => type === "text" || type === "tool_use",
  ) as unknown as readonly ReplyBlock[];
  const spoken = said.length > 0 ? said : [{ type: "text", text: "(nothing)" } as const];
  return [{ type: "thinking", thinking: `What comes after ${at} turns?` }, ...spoken];
}

/** The bodies ask for events; what they say is put together by hand. */
function answerOf(body: Buffer): string {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const [, data] of body.toString().matchAll(/^data: (.*)$/gm)) {
    const event = JSON.parse(data ?? "{}") as {
      readonly type: string;
      readonly index: number;
      readonly content_block: Record<string, unknown>;
      readonly delta: Record<string, string>;
    };
    if (event.type === "content_block_start") blocks[event.index] = { ...event.content_block };
    if (event.type !== "content_block_delta") continue;
    const block = blocks[event.index] ?? {};
    for (const [field, text] of Object.entries(event.delta)) {
      if (field === "partial_json") inputs.set(event.index, `${inputs.get(event.index) ?? ""}${text}`);
      else if (field !== "type") block[field] = `${String(block[field] ?? "")}${text}`;
    }
  }
  for (const [index, text] of inputs) Object.assign(blocks[index] ?? {}, { input: JSON.parse(text || "{}") });
  return JSON.stringify({ content: blocks });
}
