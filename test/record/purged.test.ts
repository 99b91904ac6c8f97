import { describe, expect, it } from "vitest";
import { contentHash, must, sha256Hex, unwrap } from "../../src/base/index.ts";
import { hashesOf } from "../support/hand-ledger.ts";
import { body, Managed, named, ours, thought, turnAt, turns } from "../support/managed-kit.ts";
import { model, text, user } from "../support/recorder-kit.ts";

describe("purged content of a managed conversation", () => {
  it("is gone from the client's request, also if it repeats the model", async () => {
    for (const block of [thought, text("done")]) {
      const managed = new Managed();
      for (const at of turns.keys()) await managed.turn(at);
      await managed.store.flush();
      unwrap(await managed.store.purge([contentHash(sha256Hex(JSON.stringify(block)))]));
      await expect(managed.bytes(3, "client-request")).rejects.toThrow("AP_CONTENT_PURGED");
      expect(await managed.bytes(1, "client-request")).toBe(turnAt(0).client.toString());
    }
  });

  it("is gone also if it was stored after a side request", async () => {
    const managed = new Managed();
    await managed.turn(0);
    await managed.turn(1);
    const { client, upstream } = turnAt(1);
    const id = await managed.ask({ client, upstream, over: { isTurn: false, fresh: [] } });
    await managed.kit.answer(id, { content: [text("a summary")] });
    await managed.turn(2);
    await managed.store.flush();
    const last = must(hashesOf(turnAt(2).client).at(-1), "something was said");
    const done = sha256Hex(JSON.stringify(text("done")));
    unwrap(await managed.store.purge([contentHash(last), contentHash(done)]));
    for (const side of ["client-request", "upstream-request"] as const) {
      await expect(managed.bytes(4, side)).rejects.toThrow("AP_CONTENT_PURGED");
    }
  });
});

describe("a credential in a managed conversation", () => {
  const secret = "sk-test-0123456789abcdef";
  const withSecret = { ...named, secrets: [secret] };

  /** The second turn continues right after the first, inside a possible credential. */
  it("is masked on both sides if only its end is new", async () => {
    const managed = new Managed();
    const [head, tail] = [secret.slice(0, 12), secret.slice(12)];
    const first = [user([text(`it is ${head}`)])];
    const second = [user([text(`it is ${head}${tail}`)]), model([text("ok")]), user([text("go on")])];
    for (const messages of [first, second, second]) {
      const id = await managed.ask({ client: body(messages), upstream: ours(messages) }, withSecret);
      await managed.kit.answer(id, { content: [text("ok")] });
    }
    const masked = JSON.stringify(text(`it is ${"*".repeat(secret.length)}`));
    for (const side of ["client-request", "upstream-request"] as const) {
      expect(await managed.bytes(1, side)).toContain(head);
      expect(await managed.bytes(2, side)).toContain(masked);
      expect(await managed.bytes(3, side)).toContain(masked);
    }
  });

  it("is masked if the previous request was searched for another credential", async () => {
    const managed = new Managed();
    const messages = [user([text(`it is ${secret}`)])];
    const ask = (over: typeof withSecret) =>
      managed.ask({ client: body(messages), upstream: ours(messages) }, over);
    await managed.kit.answer(await ask({ ...named, secrets: ["sk-test-another-credential"] }), {});
    await managed.kit.answer(await ask(withSecret), {});
    for (const side of ["client-request", "upstream-request"] as const) {
      expect(await managed.bytes(1, side)).toContain(secret);
      expect(await managed.bytes(2, side)).not.toContain(secret);
    }
  });
});
