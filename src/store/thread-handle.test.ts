import { describe, expect, it } from "vitest";
import { type ContentHash, hashContent, limits } from "../base/index.ts";
import type { Batch } from "./store.ts";
import { ThreadHandle } from "./thread-handle.ts";
import { ThreadOwner } from "./thread-owner.ts";

const options = { path: "unused", maxPages: null, failPoint: null, isBackground: false };

/** A thread that runs the given code for every request, with `port`, `id` and `call` in scope. */
function thread(onRequest: string): URL {
  const source = `
    import { parentPort } from "node:worker_threads";
    parentPort.on("message", ({ type, port }) => {
      if (type === "close") parentPort.postMessage({ type: "closed" });
      else port.on("message", ({ id, call }) => { ${onRequest} });
    });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

type HandleRig = {
  readonly owner: ThreadOwner;
  readonly handle: ThreadHandle;
  readonly close: () => Promise<void>;
};

function rigOn(entry: URL): HandleRig {
  const owner = new ThreadOwner(options, entry);
  const handle = new ThreadHandle(owner.openPort());
  return { owner, handle, close: () => handle.close(() => owner.close()) };
}

const accept = `port.postMessage({ type: "appended", outcomes: [{ id, refusal: null }] });`;

function batch(text: string): Batch {
  return { contents: [{ hash: hashContent(text), bytes: Buffer.from(text) }] };
}

async function codeOf(handle: ThreadHandle, each: Batch): Promise<string> {
  const appended = handle.append(each);
  const result = appended.accepted ? await appended.durable : appended.refused;
  return result.ok ? "ok" : result.error.code;
}

describe("the handle of the store's thread", () => {
  it("refuses a batch that killed several threads, and continues with the next", async () => {
    const dies = `if (Buffer.from(call.batch.contents[0].bytes).toString() === "poison") throw new Error("poisoned");`;
    const { handle, close } = rigOn(thread(`${dies} ${accept}`));
    const codes = await Promise.all(["poison", "one", "two"].map((text) => codeOf(handle, batch(text))));
    expect(codes).toEqual(["AP_STORE_IO", "ok", "ok"]);
    await close();
  });

  it("fails queries with the reason when the thread dies, and after closing", async () => {
    const { handle, close } = rigOn(thread(`throw new Error("no head");`));
    const answer = await handle.query({ type: "sessions" });
    expect(answer).toMatchObject({ ok: false, error: { code: "AP_STORE_IO" } });
    expect(answer.ok ? "" : answer.error.message).toContain("no head");
    expect(handle.status()).toMatchObject({ storage: "degraded", code: "AP_STORE_IO" });
    expect(await handle.query({ type: "sessions" })).toMatchObject({
      ok: false,
      error: { code: "AP_STORE_IO" },
    });
    await close();
  });

  it("keeps accepted batches when no thread can start, and reports that", async () => {
    const { handle, close } = rigOn(new URL("data:text/javascript,throw new Error('cannot start')"));
    const durable = codeOf(handle, batch("one"));
    await new Promise<void>((resolve) => handle.watch(({ code }) => code === "AP_STORE_IO" && resolve()));
    expect(handle.status()).toMatchObject({ storage: "degraded", waitingBytes: 64 + 64 + 3 });
    await close();
    expect(await durable).toBe("AP_STORE_CLOSED");
    expect(handle.status().waitingBytes).toBe(0);
  });

  it("notifies every listener, also when one of them throws", async () => {
    const { handle, close } = rigOn(new URL("data:text/javascript,throw new Error('cannot start')"));
    handle.watch(() => {
      throw new Error("a listener of no use");
    });
    handle.watch(null as never);
    const reported = new Promise<string | null>((resolve) => handle.watch(({ code }) => resolve(code)));
    expect(await reported).toBe("AP_STORE_IO");
    await close();
  });

  it("copies the bytes of a batch before it returns, and no more", async () => {
    const measures = `port.postMessage({ type: "answer", id, result: { ok: true, value: sizes } });`;
    const { handle, close } = rigOn(
      thread(`globalThis.sizes ??= [];
        if (call.type === "append") { sizes.push(call.batch.contents[0].bytes.buffer.byteLength); ${accept} }
        else ${measures}`),
    );
    const large = new Uint8Array(1_000_000);
    const small = { hash: hashContent("") as ContentHash, bytes: large.subarray(5, 25) };
    expect(await codeOf(handle, { contents: [small] })).toBe("ok");
    expect(await handle.query({ type: "sessions" })).toEqual({ ok: true, value: [20] });
    expect(large.length).toBe(1_000_000);
    await close();
  });

  it("accepts one batch larger than the limit when nothing waits, and refuses the next", async () => {
    const { handle, close } = rigOn(thread(""));
    const bytes = new Uint8Array(limits.queueBytesMax + 1);
    const first = handle.append({ contents: [{ hash: hashContent(""), bytes }] });
    expect(first.accepted).toBe(true);
    expect(await codeOf(handle, batch("one more"))).toBe("AP_STORE_QUEUE_FULL");
    await close();
  });

  it("fails queries once the owner ended the thread", async () => {
    const { owner, handle } = rigOn(thread(""));
    const durable = codeOf(handle, batch("never written"));
    await owner.close();
    expect(await durable).toBe("AP_STORE_CLOSED");
    expect(await handle.query({ type: "sessions" })).toMatchObject({ error: { code: "AP_STORE_CLOSED" } });
    expect(await codeOf(handle, batch("too late"))).toBe("AP_STORE_CLOSED");
    const late = new ThreadHandle(owner.openPort());
    expect(await late.query({ type: "sessions" })).toMatchObject({ error: { code: "AP_STORE_CLOSED" } });
  });

  it("queues queries while there is no thread, for the next one to answer", async () => {
    const { handle, close } = rigOn(
      thread(`
        if (call.type === "gc") throw new Error("deadly");
        port.postMessage({ type: "answer", id, result: { ok: true, value: [] } });`),
    );
    expect(await handle.query({ type: "gc" })).toMatchObject({ error: { code: "AP_STORE_IO" } });
    expect(await handle.query({ type: "sessions" })).toEqual({ ok: true, value: [] });
    await close();
  });
});
