import { describe, expect, test } from "vitest";
import { DeskKit } from "../../../test/support/desk-kit.ts";
import type { Json } from "../../base/index.ts";

type Message = { readonly role: string; readonly content: readonly { readonly [key: string]: Json }[] };

const tool = { name: "read", input_schema: { type: "object" } };
const lines = (from: number, to: number): string =>
  Array.from(
    { length: to - from + 1 },
    (_, at) => `const value${from + at} = compute(${from + at}, "x");`,
  ).join("\n");
const ask = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const call = (id: string): Message => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "read", input: { id } }],
});
const result = (id: string, content: string): Message => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});

/** A talk in which each result comes with a request of its own: what went upstream of the last result. */
async function lastResult(results: readonly string[], arrival: "lossless" | "trimmed" | "off" = "lossless") {
  const replies = results.map((_, at) => ({
    content: [{ type: "tool_use" as const, id: `c${at}`, name: "read", input: { id: `c${at}` } }],
  }));
  let next = 0;
  const place = { handling: () => ({ arrival }) };
  const model = () => replies[next++] ?? { content: [{ type: "text" as const, text: "done" }] };
  const kit = new DeskKit({ model, place });
  let messages: readonly Message[] = [ask("Begin.")];
  const post = async () => {
    const body = { model: "claude-opus-5-5", max_tokens: 1_000, tools: [tool], messages };
    const headers = { "x-aperture-session": "one" };
    return await kit.post(Buffer.from(JSON.stringify(body)), { headers });
  };
  await post();
  let sent = "";
  for (const [at, text] of results.entries()) {
    messages = [...messages, call(`c${at}`), result(`c${at}`, text)];
    const { attempts } = await post();
    sent = attempts.at(-1)?.body ?? "";
  }
  const body = JSON.parse(sent) as { readonly messages: readonly Message[] };
  const found = body.messages.flatMap(({ content }) => content).filter(({ type }) => type === "tool_result");
  return found.map(({ content }) => String(content));
}

describe("a tool result that comes", () => {
  test("leaves out lines that an earlier one shows, and says where they stand", async () => {
    const [first, second] = await lastResult([lines(1, 40), `new\n${lines(5, 30)}\nend`]);
    expect(first).toBe(lines(1, 40));
    expect(second).toMatch(/^new\n\[k7f3 26 lines: same as in #\d+, from its line 5\]\nend$/);
  });

  test("is shown as it is where nothing may be left out", async () => {
    const texts = [lines(1, 40), lines(1, 40)];
    expect(await lastResult(texts, "off")).toEqual(texts);
  });

  test("is trimmed where that is wanted and it is large, with the way to the rest", async () => {
    const text = Array.from({ length: 400 }, (_, at) => `${at}: the same words about nothing new`).join("\n");
    const [large, small] = await lastResult([text, "short"], "trimmed");
    expect(large?.length).toBeLessThan(text.length / 2);
    expect(large).toMatch(/\[k7f3 #\d+ trimmed, whole ~[\d.]+k -> expand #\d+\]$/);
    expect(small).toBe("short");
  });

  test("loses colours and repeated lines", async () => {
    const [shown] = await lastResult([
      `\u001b[31mred\u001b[0m\n${"again\n".repeat(60)}end${" ".repeat(200)}`,
    ]);
    expect(shown).toMatch(/^red\nagain\n\[k7f3 the line above stands here 60 times\]\nend/);
  });

  test("refers to what stands there, never to a line that is a reference itself", async () => {
    const [, second, third] = await lastResult([lines(1, 40), lines(1, 40), lines(1, 40)]);
    const number = (text: string | undefined) => /in #(\d+)/.exec(text ?? "")?.[1];
    expect(number(second)).toBeDefined();
    expect(number(third)).toBe(number(second));
  });
});
