import { MessageChannel } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { WorkQueue } from "./work-queue.ts";

function scene() {
  const queue = new WorkQueue<string>();
  const done: string[] = [];
  const add = (label: string): Promise<void> =>
    queue.add(label, async () => {
      await new Promise((resume) => setImmediate(resume));
      done.push(label);
    });
  return { queue, done, add };
}

describe("a work queue", () => {
  it("runs one piece of work after the other, in order", async () => {
    const { queue, done, add } = scene();
    for (const label of ["a", "b", "c"]) void add(label);
    await queue.idle();
    expect(done).toEqual(["a", "b", "c"]);
    await add("d");
    expect(done).toEqual(["a", "b", "c", "d"]);
  });

  it("runs prioritized work first, in its order, and waits for nothing else", async () => {
    const { queue, done, add } = scene();
    for (const label of ["x", "a1", "y", "a2", "z"]) void add(label);
    let doneBefore: readonly string[] = [];
    await queue
      .prioritize((label) => label.startsWith("a"))
      .then(() => {
        doneBefore = [...done];
      });
    expect(doneBefore.slice(0, 2)).toEqual(["a1", "a2"]);
    expect(doneBefore.length).toBeLessThan(5);
    await queue.idle();
    expect(done).toEqual(["a1", "a2", "x", "y", "z"]);
  });

  it("lets a message through while much work is left", async () => {
    const queue = new WorkQueue<string>();
    const { port1, port2 } = new MessageChannel();
    const [done, receivedAfter]: number[][] = [[], []];
    port2.on("message", () => receivedAfter?.push(done?.length ?? 0));
    const busy = (): Promise<void> => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      done?.push(1);
      return Promise.resolve();
    };
    for (let n = 0; n < 100; n += 1) void queue.add("work", busy);
    port1.postMessage("a question");
    await queue.idle();
    port1.close();
    expect(receivedAfter?.[0]).toBeLessThan(50);
  });

  it("waits for running work that matches", async () => {
    const queue = new WorkQueue<string>();
    let finish: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    void queue.add("a", () => held);
    await new Promise((resume) => setImmediate(resume));
    let isDone = false;
    const hastened = queue
      .prioritize((label) => label === "a")
      .then(() => {
        isDone = true;
      });
    await queue.prioritize((label) => label === "b");
    expect(isDone).toBe(false);
    finish();
    await hastened;
    expect(isDone).toBe(true);
  });
});
