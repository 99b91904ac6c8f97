import { describe, expect, it } from "vitest";
import { limits } from "../base/index.ts";
import { inTurn } from "./own-thread.ts";

/** Does what it is told: it says a word, never ends, takes all memory, fails, or leaves without a word. */
const entry = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from "node:worker_threads";
    const { does } = workerData;
    const kept = [];
    if (does === "hang") setInterval(() => undefined, 1000);
    else if (does === "spin") for (;;);
    else if (does === "fill") for (;;) kept.push(Array.from({ length: 100_000 }, (_, at) => [at]));
    else if (does === "fail") throw new Error("it failed");
    else if (does !== "leave") parentPort.postMessage(does.byteLength ?? does);
  `)}`,
);

const thread = (msMax: number) =>
  inTurn<string>({ entry, question: "test", msMax, heapBytesMax: 32 * 1024 * 1024 });
const said = { ok: true, value: "hello" };

const [late, full, fault] = ["more than 2 s", "more than 32 MB of memory", "a mistake of its own"];

describe("work on a thread of its own", () => {
  it.each([
    { what: "never ends", does: "hang", says: late },
    { what: "never rests", does: "spin", says: late },
    { what: "takes all memory", does: "fill", says: full, msMax: 30_000 },
    { what: "fails", does: "fail", says: fault },
    { what: "says nothing", does: "leave", says: fault },
    // A function cannot cross to a thread.
    { what: "cannot begin", does: () => undefined, says: fault },
  ])(
    "that $what is given up, and the next has its turn",
    async ({ does, says, msMax = 2_000 }) => {
      const ask = thread(msMax);
      const [given, next] = await Promise.all([ask({ does }), ask({ does: "hello" })]);
      expect(given).toMatchObject({ ok: false, error: { message: expect.stringContaining(says) } });
      expect(next).toEqual(said);
    },
    40_000,
  );

  it("is done one after the other, and what would wait too long is refused at once", async () => {
    const ask = thread(30_000);
    const asked = Array.from({ length: limits.worksWaitingMax }, () => ask({ does: "hello" }));
    expect(await ask({ does: "hello" })).toMatchObject({ error: { code: "AP_WORK_BUSY" } });
    expect(await Promise.all(asked)).toEqual(asked.map(() => said));
    expect(await ask({ does: "hello" })).toEqual(said);
  }, 40_000);

  it("has bytes that are given to it without a copy", async () => {
    const bytes = new Uint8Array(1_000);
    const made = await thread(30_000)({ does: bytes }, [bytes.buffer]);
    expect([made, bytes.byteLength]).toEqual([{ ok: true, value: 1_000 }, 0]);
  }, 40_000);
});
