// Verbs that list and compare: the blocks of a session, its cost, and the difference between two seqs.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { PricedRequests } from "../../src/control/index.ts";
import type { StateRow } from "../../src/queries/answers/index.ts";
import { api, converse, openRig, type Rig } from "./rig.ts";

let rig: Rig;
let state: StateRow;
beforeAll(async () => {
  rig = await openRig();
  await rig.up();
  await converse(rig, "first", ["say hello", "say something about authentication", "say goodbye"]);
  await vi.waitFor(
    async () => expect(await finished()).toEqual(["complete", "complete", "complete"]),
    10_000,
  );
  state = (await api(rig, "/api/v1/sessions/last/state")) as StateRow;
});
afterAll(() => rig.close());

/** An answer is recorded shortly after the client has received it. */
async function finished(): Promise<readonly string[]> {
  const page = (await api(rig, "/api/v1/sessions/last/requests")) as Partial<PricedRequests>;
  return (page.rows ?? []).map(({ outcome }) => outcome);
}

type Listed = { readonly v: number; readonly seq: number; readonly blocks: StateRow["blocks"] };

async function listed(...args: readonly string[]): Promise<Listed> {
  const { code, out } = await rig.run(["blocks", "--json", ...args]);
  expect(code).toBe(0);
  return JSON.parse(out) as Listed;
}

describe("blocks", () => {
  test("are listed as the state has them", async () => {
    const { v, seq, blocks } = await listed();
    expect({ v, seq, blocks }).toEqual({ v: 1, seq: state.seq, blocks: state.blocks });
    expect(blocks.length).toBeGreaterThan(5);
    const { out, err } = await rig.run(["blocks"]);
    expect(out.split("\n")).toHaveLength(blocks.length + 2);
    expect(out).toMatch(/^ +# {2}zone +kind +about +tokens +shown/);
    expect(err).toMatch(/^\d+ blocks, ~\S+ tokens, seq \d+\n$/);
  });

  test("must match every filter", async () => {
    const users = await listed("kind:user");
    expect(users.blocks.map(({ kind }) => kind)).toEqual(["user", "user", "user"]);
    const both = await listed("kind:user", "authentication");
    expect(both.blocks).toHaveLength(1);
    expect((await listed("kind:user", "turn:>1")).blocks).toHaveLength(2);
    expect((await listed("pinned:yes")).blocks).toEqual([]);
    await rig.run(["pin", `${both.blocks[0]?.n}`]);
    expect((await listed("pinned:yes")).blocks.map(({ n }) => n)).toEqual(both.blocks.map(({ n }) => n));
  });

  test("can be sorted, limited and listed as of a seq", async () => {
    const { blocks } = await listed("--sort", "tokens", "--limit", "2");
    const sizes = state.blocks.map(({ tokens }) => tokens ?? 0).sort((a, b) => b - a);
    expect(blocks.map(({ tokens }) => tokens)).toEqual(sizes.slice(0, 2));
    const first = Math.min(...state.blocks.map(({ addedSeq }) => addedSeq));
    expect((await listed("--at", `${first}`)).blocks.length).toBeLessThan(state.blocks.length);
  });

  test("with an unknown filter are refused, with the known ones", async () => {
    for (const [filter, message] of [
      ["colour:red", "Known filters: zone, kind"],
      ["pinned:perhaps", "yes or no"],
      ["tokens:many", "a number"],
    ] as const) {
      const { code, err } = await rig.run(["blocks", filter]);
      expect({ code, hasMessage: err.includes(message) }).toEqual({ code: 2, hasMessage: true });
    }
    expect((await rig.run(["blocks", "--sort", "size"])).code).toBe(2);
  });

  test("have tabs with --plain, and no heading with --quiet", async () => {
    const { out } = await rig.run(["blocks", "kind:user", "--plain", "--quiet"]);
    const lines = out.split("\n").slice(0, -1);
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line.split("\t")).toHaveLength(9);
  });

  test("are printed again after every change, until interrupted", async () => {
    const started = rig.start(["blocks", "--watch", "--json", "--session", state.session]);
    await started.saw(/\n/);
    await converse(rig, "first", ["say hello"]);
    await started.saw(/\n.*\n/);
    started.child.kill("SIGINT");
    const { code, out } = await started.ended;
    expect(code).toBe(130);
    for (const line of out.trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ v: 1 });
  });
});

describe("diff", () => {
  test("of two seqs lists new, removed and changed blocks", async () => {
    const [last] = state.blocks.filter(({ kind }) => kind === "user").slice(-1);
    const before = (last?.addedSeq ?? 2) - 1;
    const { code, out } = await rig.run(["diff", `${before}`, `${state.seq}`, "--json"]);
    expect(code).toBe(0);
    const difference = JSON.parse(out) as { added: readonly { n: number }[]; from: number; to: number };
    expect(difference).toMatchObject({ v: 1, from: before, to: state.seq, gone: [] });
    const added = state.blocks.filter(({ addedSeq }) => addedSeq > before).map(({ n }) => n);
    expect(difference.added.map(({ n }) => n)).toEqual(added);
    const text = (await rig.run(["diff", `${state.seq}`, `${before}`])).out;
    for (const n of added) expect(text).toMatch(new RegExp(`^- +#${n} `, "m"));
  });

  test("takes two seqs or none", async () => {
    expect((await rig.run(["diff", "1"])).code).toBe(2);
    expect((await rig.run(["diff", "1", "x"])).code).toBe(2);
    expect((await rig.run(["diff"])).code).toBe(0);
  });
});

type Costs = {
  readonly rows: readonly { readonly name: string; readonly requests: number; readonly usd?: number }[];
  readonly total: { readonly requests: number; readonly input: number; readonly usd?: number } | null;
};

async function costs(...args: readonly string[]): Promise<Costs> {
  const { code, out, err } = await rig.run(["cost", "--json", ...args]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out) as Costs;
}

describe("cost", () => {
  test("adds up to the usage of the sessions in every grouping", async () => {
    const page = (await api(rig, "/api/v1/sessions")) as { rows: readonly { usage: { input: number } }[] };
    const input = page.rows.reduce((sum, { usage }) => sum + usage.input, 0);
    for (const by of ["daily", "session", "model"]) {
      const { rows, total } = await costs(by);
      expect(total?.input).toBe(input);
      expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(total?.requests);
      expect(total?.usd).toBeGreaterThan(0);
    }
    expect((await costs("model")).rows.map(({ name }) => name)).toEqual(["claude-sonnet-4-5"]);
  });

  test("without usage in the span says so", async () => {
    expect(await costs("--until", "2020-01-31")).toMatchObject({ rows: [], total: null });
    expect((await rig.run(["cost", "--until", "2020-01-31"])).err).toContain("No usage was recorded");
    expect((await costs("--since", "today", "--until", "today")).total).not.toBeNull();
  });

  test("of one session is of that session alone, and an unknown one is refused", async () => {
    for (const word of ["last", "name:first", state.session.slice(0, 12)]) {
      const { rows } = await costs("session", "--session", word);
      expect(rows.map(({ name }) => name.slice(0, 8))).toEqual([state.session.slice(0, 8)]);
    }
    const none = await rig.run(["cost", "--session", "nosuch"]);
    expect(none).toMatchObject({ code: 4, out: "", err: expect.stringContaining("There is no session") });
  });

  test("can be left out, and invalid days are refused", async () => {
    expect((await costs("--no-cost", "--offline")).total).not.toHaveProperty("usd");
    for (const day of ["2026-06-31", "soon"]) expect((await rig.run(["cost", "--since", day])).code).toBe(2);
    expect((await rig.run(["cost", "weekly"])).code).toBe(2);
  });
});

describe("global options", () => {
  test("-v prints requests and durations", async () => {
    const { out, err } = await rig.run(["context", "-v"]);
    expect(err).toMatch(/^GET \/api\/v1\/sessions\/last 200 \d+ ms$/m);
    expect(out).not.toContain("GET");
  });

  test("--config takes a path relative to the current folder", async () => {
    writeFileSync(join(rig.folder, "mine.json"), "{}");
    const { code, err } = await rig.run(["status", "--config", "mine.json"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const missing = await rig.run(["status", "--config", "nowhere.json"]);
    expect(missing.code).toBe(2);
    expect(missing.err).toContain(`There is no config file ${join(rig.folder, "nowhere.json")}.`);
  });
});

test("an ambiguous start of an id names no session", async () => {
  const own = await openRig();
  try {
    await own.up();
    // Among 17 ids, two start with the same hexadecimal digit.
    await Promise.all(Array.from({ length: 17 }, (_, at) => converse(own, `talk-${at}`, [`say ${at}`])));
    const page = (await api(own, "/api/v1/sessions?limit=100")) as { rows: readonly { id: string }[] };
    const starts = page.rows.map(({ id }) => id.charAt(0));
    const shared = starts.find((start, at) => starts.indexOf(start) !== at) ?? "";
    const { code, out, err } = await own.run(["cost", "--session", shared]);
    expect({ code, out }).toEqual({ code: 4, out: "" });
    expect(err).toContain(`sessions start with ${shared}`);
  } finally {
    await own.close();
  }
}, 60_000);
