import { expect, test } from "vitest";
import { PlannerKit } from "../../../test/support/planner-kit.ts";
import { shownFacts } from "../../../test/support/render-facts.ts";
import { canonicalJson, must } from "../../base/index.ts";
import { fingerprintOf, type TextFingerprint } from "../../exchange/index.ts";
import { plainBody, type WithheldContent } from "../../ledger/index.ts";
import { protocolOf } from "../../protocols/index.ts";
import { WithheldRegistry } from "./withheld-registry.ts";

const anthropic = protocolOf({ protocol: "anthropic" });
const readRequest = anthropic.read.request;

const secret = "the colour of the elephant is blue";
const bodyOf = (...messages: readonly unknown[]): Buffer =>
  Buffer.from(JSON.stringify({ model: "claude-opus-4-6", max_tokens: 1, messages }));
const user = (content: unknown) => ({ role: "user", content });
const model = (content: unknown) => ({ role: "assistant", content });

function keyOf(message: unknown): string {
  const request = must(readRequest(bodyOf(message), null), "it can be read");
  return must(request.messageKeys[0], "it says something");
}
const withheld: WithheldContent = new Map([[keyOf(user(secret)), fingerprintOf(secret)]]);
const plain = (...messages: readonly unknown[]): string =>
  Buffer.concat(
    plainBody(must(readRequest(bodyOf(...messages), null), "it can be read"), withheld),
  ).toString();

test("a withheld text is removed from a longer text that its client joined it to", () => {
  for (const glue of ["", "\n", "\n\n", " "]) {
    const body = plain(user(`before${glue}${secret}${glue}behind`), model("well"), user("go on"));
    expect(body).not.toContain("elephant");
    expect(body).toContain(JSON.stringify(`before${glue}[withheld by the user]${glue}behind`));
  }
});

test("a withheld text of the user stays in a message of the model", () => {
  expect(plain(user("hello"), model(`You messages: ${secret}`), user("go on"))).toContain("elephant");
});

test("a body without withheld text stays byte for byte", () => {
  const body = [user("hello"), model([{ type: "text", text: "well" }]), user("go on")];
  expect(plain(...body)).toBe(bodyOf(...body).toString());
});

/** Counts how often it is iterated: once for each text that is searched. */
class CountingMap extends Map<string, TextFingerprint | null> {
  searches = 0;

  override [Symbol.iterator]() {
    this.searches += 1;
    return super[Symbol.iterator]();
  }
}

test("a sent text is searched once, not with every later turn", async () => {
  const counting = new CountingMap(withheld);
  class FixedRegistry extends WithheldRegistry {
    override withFingerprints(): WithheldContent {
      return counting;
    }
  }
  const answers = () => ({ content: [{ type: "text", text: "Well." }] }) as const;
  const kit = new PlannerKit({ model: answers, place: { withheld: new FixedRegistry([]) } });
  const messages = [user("Let us begin.")];
  const searches: number[] = [];
  for (let turn = 0; turn < 40; turn += 1) {
    const body = { model: "claude-opus-4-6", max_tokens: 1, messages };
    const { answer } = await kit.post(body, { headers: { "x-aperture-session": "one" } });
    expect(answer.status).toBe(200);
    messages.push(model([{ type: "text", text: "Well." }]), user(`And what about number ${turn}?`));
    searches.push(counting.searches);
    counting.searches = 0;
  }
  expect(searches.at(-1)).toBeGreaterThan(0);
  expect(searches.at(-1)).toBeLessThanOrEqual((searches[5] ?? 0) + 2);
});

test("a text is searched again when more is withheld or a fingerprint becomes known", async () => {
  const registry = new WithheldRegistry([]);
  const answers = () => ({ content: [{ type: "text", text: "Well." }] }) as const;
  const kit = new PlannerKit({ model: answers, place: { withheld: registry } });
  const messages = [user(`Before.\n${secret}\nBehind.`)];
  const sent = async (next: string): Promise<string> => {
    const body = { model: "claude-opus-4-6", max_tokens: 1, messages };
    const { attempts } = await kit.post(body, { headers: { "x-aperture-session": "one" } });
    messages.push(model([{ type: "text", text: "Well." }]), user(next));
    return must(attempts.at(-1), "it was sent").body;
  };
  const streamKey = canonicalJson(["local", "anthropic", "unknown", "one", null]);
  const withhold = (...keys: readonly string[]): void => {
    const wishes = { streamKey, seq: 0, turn: 0, facts: shownFacts, tokenRate: 1, headerNames: [] };
    kit.planner.updateWishes({ ...wishes, levels: [], held: [], withheld: keys });
  };
  const [joined, later] = [keyOf(user(secret)), keyOf(user("The mouse is grey."))];
  await sent("Go on.");
  // The registry does not know the fingerprint yet, so the text inside a longer one is not found.
  withhold(joined);
  for (const next of ["The mouse is grey.", "And on.", "And on."]) {
    expect(await sent(next)).toContain("elephant");
  }
  const named = { session: "s", owner: "local", upstream: "anthropic", client: "unknown", name: "one" };
  registry.update({ ...named, units: [{ key: joined, print: fingerprintOf(secret) }] });
  withhold(joined);
  const without = await sent("And on.");
  expect([without.includes("elephant"), without.includes("mouse")]).toEqual([false, true]);
  withhold(joined, later);
  expect(await sent("And on.")).not.toMatch(/elephant|mouse/);
});
