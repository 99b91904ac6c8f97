// Every recorded session is replayed as a managed one, with a model that binds its reasoning: no request is
// refused, every body extends the one before, and the model gets exactly what the client sent.
import { describe, expect, it } from "vitest";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { clientBody } from "../support/client-body.ts";
import { PlannerKit } from "../support/planner-kit.ts";
import {
  type RecordedBlock,
  type RecordedMessage,
  type RecordedTurn,
  readRecording,
  recordingNames,
} from "../support/recordings.ts";
import { validRecording } from "../support/valid-recording.ts";

const turnsMax = process.env["APERTURE_TEST_LONG"] === "1" ? Number.POSITIVE_INFINITY : 40;
const model = "claude-opus-5-5";
const headers = { "x-aperture-session": "replayed" };

describe("a recorded session, managed", () => {
  it.each(recordingNames())(
    "%s is never refused, and its bodies are only extended",
    { timeout: 600_000 },
    async (name) => {
      const recording = validRecording(readRecording(name));
      let next: readonly ReplyBlock[] = [];
      // Results are not trimmed on arrival, so that every text can be compared.
      const arrivalPolicy = () => ({ arrival: "off" }) as const;
      const place = { arrivalPolicy, windowOf: () => 10_000_000 };
      const kit = new PlannerKit({ model: () => ({ content: next }), place });
      let history: readonly RecordedMessage[] = [];
      let before: readonly string[] = [];
      let extended = 0;
      const turns = recording.turns.slice(0, turnsMax);
      for (const [at, turn] of turns.entries()) {
        const isAppend = (turn.k ?? history.length) >= history.length;
        const messages = [...history.slice(0, turn.k ?? history.length), ...turn.c];
        next = replyOf(turn, at);
        const { attempts, sending, body } = await kit.post(clientBody(recording, messages, model), {
          headers,
        });
        expect(attempts.map(({ problem }) => problem)).toEqual([null]);
        expect(sending.rendering).toBe("managed");
        const sent = unitsOf(JSON.parse(attempts[0]?.body ?? "{}") as Body);
        expect(contentUnits(sent)).toEqual(contentUnits(unitsOf({ messages })));
        if (isAppend && at > 0) {
          expect(sent.slice(0, before.length)).toEqual(before);
          extended += 1;
        }
        before = sent;
        const { content } = JSON.parse(answerOf(body)) as { readonly content: readonly RecordedBlock[] };
        history = [...messages, { role: "assistant", content }];
      }
      expect(extended).toBeGreaterThan(turns.length / 2 - 1);
    },
  );
});

type Body = { readonly messages: readonly RecordedMessage[] };

/** One string per block, with its role and without its cache mark. */
function unitsOf({ messages }: Body): readonly string[] {
  return messages.flatMap(({ role, content, ...rest }) => {
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    return blocks.map(({ cache_control: _mark, ...block }: RecordedBlock) =>
      JSON.stringify([role, rest, block]),
    );
  });
}

/** The units without our notes, and without reasoning, which a fork loses. */
function contentUnits(units: readonly string[]): readonly string[] {
  return units.filter(
    (unit) =>
      !/"type":"(?:redacted_)?thinking"/.test(unit) &&
      !/"\[(?:CONTEXT MANIFEST )?k7f3 |"# Context notes/.test(unit),
  );
}

function replyOf({ a }: RecordedTurn, at: number): readonly ReplyBlock[] {
  const blocks = a.filter(
    ({ type }) => type === "text" || type === "tool_use",
  ) as unknown as readonly ReplyBlock[];
  const content = blocks.length > 0 ? blocks : [{ type: "text", text: "(nothing)" } as const];
  return [{ type: "thinking", thinking: `What comes after ${at} turns?` }, ...content];
}

/** Joins the events of a streamed answer into one message. */
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
