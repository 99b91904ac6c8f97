// The verbs with which a user changes the context: their plans, their refusals and exit codes.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { PricedCommand, PricedRequests } from "../../src/control/index.ts";
import type { StateRow } from "../../src/queries/answers/index.ts";
import type { ModelReply } from "../../src/testing/index.ts";
import { TestClient } from "../support/test-client.ts";
import { api, openRig, type Rig } from "./rig.ts";

const last = "/api/v1/sessions/last";
const waiting = { timeout: 20_000, interval: 50 };
type ReplyBlock = ModelReply["content"][number];

let rig: Rig;
let talker: TestClient;
let turns = 0;
let replies: (readonly ReplyBlock[])[] = [];

async function turn(text: string): Promise<void> {
  expect((await talker.turn(rig.url, text)).status).toBe(200);
  turns += 1;
  await vi.waitFor(async () => {
    const { rows } = (await api(rig, `${last}/requests?limit=1000`)) as PricedRequests;
    expect(rows.filter(({ outcome }) => outcome === "complete").length).toBeGreaterThanOrEqual(turns);
  }, waiting);
}

const stateNow = async () => (await api(rig, `${last}/state`)) as StateRow;
const rowOf = async (block: number) => (await stateNow()).blocks.find(({ n }) => n === block);
const run = (...args: string[]) => rig.run(args);

beforeAll(async () => {
  let answers = 0;
  rig = await openRig({
    model: () => {
      answers += 1;
      return { content: replies.shift() ?? [{ type: "text", text: `answer ${answers}` }] };
    },
  });
  await rig.up();
  talker = new TestClient({ bulk: 80_000, model: "claude-opus-4-6" });
  await turn("where is the harbour?");
  await turn(`the lighthouse, tell me about it ${"and its keeper ".repeat(500)}`);
  await turn("thanks");
}, 60_000);
afterAll(() => rig.close());

/** The number of the block with this text. */
async function blockWith(text: string): Promise<number> {
  const { out } = await run("recall", text);
  return Number(/#(\d+)/.exec(out)?.[1]);
}

describe("a verb", () => {
  test("is planned, done and undone", async () => {
    const block = await blockWith("lighthouse");
    const planned = await run("archive", `${block}`, "--reason", "seen it", "--dry-run");
    expect([planned.code, planned.err]).toEqual([0, ""]);
    expect(planned.out).toMatch(new RegExp(`^would archive 1 block: #${block}: frees ~[\\d.]+k?\n`));
    expect(planned.out).toMatch(/first change at #\d+: a rewrite sends the ~[\d.k]+ tokens after it again/);
    expect(planned.out).toMatch(
      /^now: [+-]\$[\d.]+ once, saves \$[\d.]+ per later request; (?:never )?pays off/m,
    );
    expect((await rowOf(block))?.zone).not.toBe("cold");
    const done = await run("archive", `${block}`, "--reason", "seen it");
    expect(done.out).toMatch(
      new RegExp(`^archived 1 block: #${block}; frees ~.* at the next rewrite \\(step \\d+\\)`),
    );
    expect([done.code, done.err]).toEqual([0, expect.stringMatching(/^`aperture undo \d+` undoes it\.\n$/)]);
    expect((await rowOf(block))?.wanted).toBe("placeholder");
    expect((await run("restore", `#${block}`)).out).toContain(`restored 1 block: #${block}`);
    expect((await rowOf(block))?.wanted).toBe("original");
    const undone = await run("undo", "--turn");
    expect(undone.out.split("\n").filter((line) => line.startsWith("undid step"))).toHaveLength(2);
    expect((await rowOf(block))?.wanted).toBe("original");
  });

  test("takes every kind of target, and names the blocks it skipped", async () => {
    const block = await blockWith("harbour");
    expect((await run("pin", "where is the harbour")).out).toContain(`pinned 1 block: #${block}`);
    expect((await rowOf(block))?.pinned).toBe(true);
    const refused = await run("archive", `block-${block}`);
    expect([refused.code, refused.err]).toEqual([1, `#${block} is pinned; unpin it first.\n`]);
    expect((await run("unpin", "zone:primacy", `${block}..${block}`)).code).toBe(0);
    expect((await run("focus", `${block}`, "-q")).err).toBe("");
    expect((await run("compress", `${block}`, "--level", "minimal", "--dry-run")).code).toBe(0);
    expect((await run("archive", "stale")).out).toBe("Nothing changed: it is so already.\n");
  });

  test("prints the API's answer with --json", async () => {
    const { out } = await run("compress", "zone:middle", "--dry-run", "--json");
    expect(JSON.parse(out) as PricedCommand).toMatchObject({ dryRun: true, verb: "compress", step: null });
  });

  test("creates and updates a memory, and shares it with the project", async () => {
    const noted = await run("note", "The harbour is in the north", "--topic", "harbour");
    const block = Number(/^created memory #(\d+) \(step \d+\)$/m.exec(noted.out)?.[1]);
    expect((await rowOf(block))?.kind).toBe("memory");
    expect((await run("scope", "project", `${block}`)).out).toContain("set the scope of 1 block");
    expect((await run("update", `${block}`, "The harbour is in the north, by the lighthouse")).out).toMatch(
      /^created memory #\d+; #\d+ archived \(step \d+\)$/m,
    );
  });

  test("that only reads changes nothing", async () => {
    const { seq } = await stateNow();
    expect((await run("recall", "lighthouse", "keeper")).out).toMatch(/recalled user #\d+/);
    const diff = await run("diff", "--since", "1");
    expect([diff.code, diff.out]).toEqual([0, expect.stringMatching(/^since turn 1\n(?: {2}\S.*\n)+$/)]);
    expect(diff.out).not.toContain("you ");
    expect((await stateNow()).seq).toBe(seq);
  });

  test.each([
    [["pin", "999999"], 4, /There is no block #999999 in this view; the nearest are/],
    [["archive", "quantum chromodynamics"], 4, /Nothing in this view is about/],
    [["compress", "4", "--level", "tiny"], 2, /trimmed, summarized or minimal/],
    [["scope", "world", "4"], 2, /SCOPE must be project or session/],
    [["purge", "4"], 2, /Undo cannot restore them/],
    [["pin"], 2, /aperture pin needs TARGET/],
    [["mode", "loud"], 2, /MODE must be observe, ask, auto or default/],
    [["approve"], 2, /Say which: `aperture approve 3`/],
    [["approve", "7"], 4, /There is no approval 7/],
    [["undo", "--turn", "3"], 2, /takes no step/],
  ] as const)("%j is refused, with a hint", async (args, code, message) => {
    const ended = await rig.run([...args]);
    expect([ended.code, ended.out]).toEqual([code, ""]);
    expect(ended.err).toMatch(message);
  });

  test("purges permanently", async () => {
    await turn("my number is four eight fifteen sixteen");
    const block = await blockWith("fifteen sixteen");
    expect((await run("purge", `${block}`, "--yes")).out).toBe(`erased permanently: 1 block: #${block}\n`);
    expect((await run("recall", `${block}`)).err).toContain("was purged: its content is erased permanently");
  });

  test("applies to the next request with --when now", async () => {
    await turn(`and the tower? ${"it is old ".repeat(40)}`);
    await turn(`something else ${"of no weight ".repeat(2_000)}`);
    const block = await blockWith("tower");
    expect((await run("archive", `${block}`, "--when", "later")).code).toBe(2);
    expect((await run("archive", `${block}`, "--when", "now")).code).toBe(0);
    await turn("go on");
    const { rows } = (await api(rig, `${last}/requests?limit=1000`)) as PricedRequests;
    expect(rows.at(-1)?.rewrite).toMatchObject({ reason: "user", blocks: [block] });
    expect((await rowOf(block))?.shown).toBe("placeholder");
  });
});

describe("decisions of the user", () => {
  test("approvals are listed, approved and denied", async () => {
    expect((await run("mode")).out).toBe("default\n");
    expect((await run("mode", "ask")).out).toBe("ask\n");
    const block = await blockWith("thanks");
    const call: ReplyBlock = {
      type: "tool_use",
      name: "aperture_manage",
      input: { verb: "focus", target: `${block}` },
    };
    replies = [
      [call],
      [{ type: "text", text: "I wait." }],
      [call],
      [{ type: "text", text: "I wait again." }],
    ];
    await turn("keep it in mind");
    await turn("again");
    await vi.waitFor(async () => {
      expect((await run("approvals", "-q")).out.match(/model wants to focus/g)).toHaveLength(2);
    }, waiting);
    const listed = await run("approvals");
    expect(listed.out).toMatch(/^1 {2}model wants to focus #\d+ \(~[\d.k]+\), waits for \d+ more turns\n/);
    expect(listed.out).toContain("why it waits: in mode ask, changes wait for the user");
    const approved = await run("approve", "1");
    expect(approved.out).toMatch(
      new RegExp(`^approved 1, focus of #${block}: #${block} in focus .* \\(step \\d+\\)\n$`),
    );
    const denied = await run("deny", "--all", "--reason", "once is enough");
    expect(denied.out).toBe(`denied 2, focus of #${block}\n`);
    expect((await run("approve", "2")).err).toBe("Approval 2 was already decided: denied.\n");
    expect((await run("approvals")).err).toBe("No command is waiting.\n");
    expect((await run("mode", "default")).out).toBe("default\n");
  }, 60_000);

  test("a mode switch reports its cost if it changes the start of the prompt", async () => {
    const price = /^The next prompt will start differently: ~[\d.]+k? cached tokens .* \$[\d.]+ more, once\./;
    expect((await run("mode", "ask")).err).toBe("every change that the model wants waits for you.\n");
    expect((await run("mode", "observe")).err).toMatch(price);
    const { err } = await run("mode", "default");
    expect(err).toBe(
      "as configured (APERTURE_MODE), which is auto: the model may do everything that can be undone.\n",
    );
  });

  test("permissions are set, listed and removed", async () => {
    expect((await run("permissions")).err).toMatch(/^No rules: the mode of a session decides/);
    const listed = /^allow archive {2}in middle, by the model, since \d{4}-\d\d-\d\d\n$/;
    expect((await run("permissions", "allow", "archive", "--zone", "middle")).out).toMatch(listed);
    expect((await run("permissions", "-q")).out).toMatch(listed);
    expect((await run("permissions", "deny", "create", "-q")).out).toContain("\ndeny create  in all zones");
    expect((await run("permissions", "forget", "create", "-q")).out).toMatch(listed);
    expect((await run("permissions", "forget", "archive", "-q")).err).toContain("remains in middle");
    expect((await run("permissions", "forget", "archive", "--zone", "middle")).out).toBe("");
    expect((await run("permissions", "allow", "archive", "--zone", "moon")).err).toMatch(
      /--zone must be primacy, middle, recency, cold or all, not "moon"/,
    );
  });

  test.each([
    [["permissions", "please", "archive"], /RULE must be allow, ask, deny or forget/],
    [["permissions", "allow", "dance"], /"dance" is not a verb of a model. Use one of .*archive/],
    [["permissions", "allow"], /Name a verb/],
  ] as const)("%j is refused, with a hint", async (args, message) => {
    const ended = await rig.run([...args]);
    expect([ended.code, ended.out]).toEqual([2, ""]);
    expect(ended.err).toMatch(message);
  });
});
