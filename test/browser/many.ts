import { expect } from "vitest";
import { ask, modelHeaders } from "../support/app.ts";
import type { PanelRig } from "./rig.ts";

/**
 * A session of so many blocks, in one request: a client that comes with a long history. Every fifth block is
 * large, so that a strip of them is not a grey plane.
 */
export async function makeMany(rig: PanelRig, { name, blocks }: { name: string; blocks: number }) {
  const content = (at: number): string =>
    at % 5 === 0
      ? `Part ${at}. ${`line ${at} of the journal. `.repeat(12)}`
      : `Part ${at}: what was said about day ${at % 365}.`;
  // Two blocks are not messages: the system text, and the answer.
  const messages = Array.from({ length: blocks - 2 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: content(at),
  }));
  const body = { model: "claude-sonnet-4-5", max_tokens: 100, system: "Be kind.", messages };
  const headers = { ...modelHeaders, "x-aperture-session": name };
  const answer = await ask(`${rig.url}/v1/messages`, { headers, body: JSON.stringify(body) });
  expect([answer.status, answer.status === 200 ? "" : answer.body.toString()]).toEqual([200, ""]);
  await rig.recorded();
  const { rows } = await rig.api<{ rows: readonly { readonly id: string }[] }>("/sessions?limit=1");
  const session = rows[0]?.id ?? "";
  const state = await rig.api<{ blocks: readonly unknown[] }>(`/sessions/${session}/state`);
  expect(state.blocks.length).toBe(blocks);
  return session;
}
