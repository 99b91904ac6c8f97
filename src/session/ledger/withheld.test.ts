import { expect, test } from "vitest";
import { DeskKit } from "../../../test/support/desk-kit.ts";
import { canonicalJson, must } from "../../base/index.ts";
import { ingestRequest } from "../../protocols/index.ts";
import { printOf, type TextPrint } from "../text-print.ts";
import { plainBody } from "./plain.ts";
import type { Withheld } from "./withheld.ts";
import { Withholding } from "./withholding.ts";

const secret = "the colour of the elephant is blue";
const bodyOf = (...messages: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ model: "claude-opus-4-6", max_tokens: 1, messages }));
const user = (content: unknown) => ({ role: "user", content });
const model = (content: unknown) => ({ role: "assistant", content });

function keyOf(message: unknown): string {
  const request = must(ingestRequest(bodyOf(message), null), "it can be read");
  return must(request.talk[0], "it says something");
}
const withheld: Withheld = new Map([[keyOf(user(secret)), printOf(secret)]]);
const plain = (...messages: readonly unknown[]): string =>
  Buffer.concat(
    plainBody(must(ingestRequest(bodyOf(...messages), null), "it can be read"), withheld),
  ).toString();

test("a text that its client has joined to others is left out of them, however it did that", () => {
  for (const glue of ["", "\n", "\n\n", " "]) {
    const said = plain(user(`before${glue}${secret}${glue}behind`), model("well"), user("go on"));
    expect(said).not.toContain("elephant");
    expect(said).toContain(JSON.stringify(`before${glue}[withheld by the user]${glue}behind`));
  }
});

test("what somebody else has said of it is theirs", () => {
  expect(plain(user("hello"), model(`You said: ${secret}`), user("go on"))).toContain("elephant");
});

test("a body in which it is not said stays as it was written", () => {
  const body = [user("hello"), model([{ type: "text", text: "well" }]), user("go on")];
  expect(plain(...body)).toBe(bodyOf(...body).toString());
});

/** Counts the texts it is looked for in. */
class Watched extends Map<string, TextPrint | null> {
  looked = 0;

  override [Symbol.iterator]() {
    this.looked += 1;
    return super[Symbol.iterator]();
  }
}

test("what was sent is searched once, not with every turn that follows", async () => {
  const watched = new Watched(withheld);
  class Watching extends Withholding {
    override printed(): Withheld {
      return watched;
    }
  }
  const place = { withholding: new Watching([]) };
  const kit = new DeskKit({ model: () => ({ content: [{ type: "text", text: "Well." }] }), place });
  const said = [user("Let us begin.")];
  const looked: number[] = [];
  for (let turn = 0; turn < 40; turn += 1) {
    const body = { model: "claude-opus-4-6", max_tokens: 1, messages: said };
    const { answer } = await kit.post(body, { headers: { "x-aperture-session": "one" } });
    expect(answer.status).toBe(200);
    said.push(model([{ type: "text", text: "Well." }]), user(`And what about number ${turn}?`));
    looked.push(watched.looked);
    watched.looked = 0;
  }
  expect(looked.at(-1)).toBeGreaterThan(0);
  expect(looked.at(-1)).toBeLessThanOrEqual((looked[5] ?? 0) + 2);
});

test("what was found clean is searched again for more, and for what is known better by now", async () => {
  const withholding = new Withholding([]);
  const answers = () => ({ content: [{ type: "text", text: "Well." }] }) as const;
  const kit = new DeskKit({ model: answers, place: { withholding } });
  const said = [user(`Before.\n${secret}\nBehind.`)];
  const sent = async (next: string): Promise<string> => {
    const body = { model: "claude-opus-4-6", max_tokens: 1, messages: said };
    const { attempts } = await kit.post(body, { headers: { "x-aperture-session": "one" } });
    said.push(model([{ type: "text", text: "Well." }]), user(next));
    return must(attempts.at(-1), "it was sent").body;
  };
  const line = canonicalJson(["local", "anthropic", "unknown", "one", null]);
  const [joined, later] = [keyOf(user(secret)), keyOf(user("The mouse is grey."))];
  await sent("Go on.");
  // Nobody knows yet what its words are.
  kit.desk.withhold(line, new Set([joined]));
  for (const next of ["The mouse is grey.", "And on.", "And on."]) {
    expect(await sent(next)).toContain("elephant");
  }
  const named = { session: "s", owner: "local", upstream: "anthropic", client: "unknown", name: "one" };
  withholding.note({ ...named, units: [{ key: joined, print: printOf(secret) }] });
  kit.desk.withhold(line, new Set([joined]));
  const without = await sent("And on.");
  expect([without.includes("elephant"), without.includes("mouse")]).toEqual([false, true]);
  kit.desk.withhold(line, new Set([joined, later]));
  expect(await sent("And on.")).not.toMatch(/elephant|mouse/);
});
