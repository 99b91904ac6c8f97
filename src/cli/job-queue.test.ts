import { describe, expect, it } from "vitest";
import { limits } from "../base/index.ts";
import { createJobQueue } from "./job-queue.ts";

/** Acts as its data says: posts a result, never ends, takes all memory, fails, or exits without a result. */
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

const createQueue = (msMax: number) =>
  createJobQueue<string>({ entry, question: "test", msMax, heapBytesMax: 32 * 1024 * 1024 });
const done = { ok: true, value: "hello" };

const [late, full, fault] = ["more than 2 s", "more than 32 MB of memory", "Internal error"];

describe("a job on its own thread", () => {
  it.each([
    { what: "never ends", does: "hang", problem: late },
    { what: "blocks the thread", does: "spin", problem: late },
    { what: "takes all memory", does: "fill", problem: full, msMax: 30_000 },
    { what: "fails", does: "fail", problem: fault },
    { what: "posts nothing", does: "leave", problem: fault },
    // A function cannot be sent to a thread.
    { what: "cannot start", does: () => undefined, problem: fault },
  ])(
    "that $what is stopped, and the next job runs",
    async ({ does, problem, msMax = 2_000 }) => {
      const run = createQueue(msMax);
      const [stopped, next] = await Promise.all([run({ does }), run({ does: "hello" })]);
      expect(stopped).toMatchObject({ ok: false, error: { message: expect.stringContaining(problem) } });
      expect(next).toEqual(done);
    },
    40_000,
  );

  it("runs after the one before, and is refused at once if too many wait", async () => {
    const run = createQueue(30_000);
    const results = Array.from({ length: limits.worksWaitingMax }, () => run({ does: "hello" }));
    expect(await run({ does: "hello" })).toMatchObject({ error: { code: "AP_WORK_BUSY" } });
    expect(await Promise.all(results)).toEqual(results.map(() => done));
    expect(await run({ does: "hello" })).toEqual(done);
  }, 40_000);

  it("gets transferred bytes without a copy", async () => {
    const bytes = new Uint8Array(1_000);
    const result = await createQueue(30_000)({ does: bytes }, [bytes.buffer]);
    expect([result, bytes.byteLength]).toEqual([{ ok: true, value: 1_000 }, 0]);
  }, 40_000);
});
