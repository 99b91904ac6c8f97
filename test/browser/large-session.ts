import { expect } from "vitest";
import { ask, modelHeaders } from "../support/app.ts";
import type { PanelSetup } from "./panel-setup.ts";

/**
 * Creates a session with `blocks` blocks by one request with a long history. Every fifth block is large, so
 * that the strip shows different widths.
 */
export async function createLargeSession(
  setup: PanelSetup,
  { name, blocks }: { name: string; blocks: number },
) {
  const content = (at: number): string =>
    at % 5 === 0
      ? `Part ${at}. ${`line ${at} of the journal. `.repeat(12)}`
      : `Part ${at}: what was said about day ${at % 365}.`;
  // The system text and the answer are blocks too.
  const messages = Array.from({ length: blocks - 2 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: content(at),
  }));
  const body = { model: "claude-sonnet-4-5", max_tokens: 100, system: "Be kind.", messages };
  const headers = { ...modelHeaders, "x-aperture-session": name };
  const answer = await ask(`${setup.url}/v1/messages`, { headers, body: JSON.stringify(body) });
  expect([answer.status, answer.status === 200 ? "" : answer.body.toString()]).toEqual([200, ""]);
  await setup.recorded();
  const { rows } = await setup.api<{ rows: readonly { readonly id: string }[] }>("/sessions?limit=1");
  const session = rows[0]?.id ?? "";
  const state = await setup.api<{ blocks: readonly unknown[] }>(`/sessions/${session}/state`);
  expect(state.blocks.length).toBe(blocks);
  return session;
}
