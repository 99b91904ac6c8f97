import { describe, expect, test } from "vitest";
import { PlannerKit } from "../../test/support/planner-kit.ts";
import type { Json } from "../base/index.ts";

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

/** Sends each result with a request of its own, and returns the results of the last body upstream. */
async function sentResults(results: readonly string[], arrival: "lossless" | "trimmed" | "off" = "lossless") {
  const replies = results.map((_, at) => ({
    content: [{ type: "tool_use" as const, id: `c${at}`, name: "read", input: { id: `c${at}` } }],
  }));
  let next = 0;
  const place = { arrivalPolicy: () => ({ arrival }) };
  const model = () => replies[next++] ?? { content: [{ type: "text" as const, text: "done" }] };
  const kit = new PlannerKit({ model, place });
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

describe("a new tool result", () => {
  test("leaves out lines that an earlier result shows, and refers to them", async () => {
    const [first, second] = await sentResults([lines(1, 40), `new\n${lines(5, 30)}\nend`]);
    expect(first).toBe(lines(1, 40));
    expect(second).toMatch(/^new\n\[k7f3 26 lines: same as in #\d+, from its line 5\]\nend$/);
  });

  test("is shown as it is if arrivals are off", async () => {
    const texts = [lines(1, 40), lines(1, 40)];
    expect(await sentResults(texts, "off")).toEqual(texts);
  });

  test("is trimmed if it is large and the mode says so, with a line that leads to the rest", async () => {
    const text = Array.from({ length: 400 }, (_, at) => `${at}: the same words about nothing new`).join("\n");
    const [large, small] = await sentResults([text, "short"], "trimmed");
    expect(large?.length).toBeLessThan(text.length / 2);
    expect(large).toMatch(/\[k7f3 #\d+ trimmed, whole ~[\d.]+k -> expand #\d+\]$/);
    expect(small).toBe("short");
  });

  test("loses colours and repeated lines", async () => {
    const [shown] = await sentResults([
      `\u001b[31mred\u001b[0m\n${"again\n".repeat(60)}end${" ".repeat(200)}`,
    ]);
    expect(shown).toMatch(/^red\nagain\n\[k7f3 the line above stands here 60 times\]\nend/);
  });

  test("refers to lines that are shown, never to another reference", async () => {
    const [, second, third] = await sentResults([lines(1, 40), lines(1, 40), lines(1, 40)]);
    const number = (text: string | undefined) => /in #(\d+)/.exec(text ?? "")?.[1];
    expect(number(second)).toBeDefined();
    expect(number(third)).toBe(number(second));
  });
});
