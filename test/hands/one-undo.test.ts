// One undo reverts all commands of a model's turn: the next rewrite sends the same bytes as a session without
// them.
import { describe, expect, test } from "vitest";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { CommandKit } from "../support/command-kit.ts";
import { frozen, upstreamUnits } from "../support/upstream-units.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, string>): ReplyBlock => ({
  type: "tool_use",
  name: `aperture_${name}`,
  input,
});

/** The last page is so new that it has no renditions yet. */
const pagesRead = 6;
/** The block numbers of the page results. */
const pages = { first: "6", second: "10", third: "14", fourth: "18", fifth: "22" } as const;
const commands = [
  own("archive", { target: `${pages.second}, ${pages.third}`, reason: "read" }),
  own("manage", { verb: "compress", target: pages.fourth, level: "summarized" }),
  own("manage", { verb: "compress", target: pages.fifth, level: "minimal" }),
  own("manage", { verb: "pin", target: pages.first, position: "top" }),
];
/** As many calls that change nothing, so that all blocks get the same numbers. */
const harmlessCalls = commands.map(() => own("read", { verb: "manifest", detail: "summary" }));

const page = (n: number): string =>
  Array.from({ length: 160 }, (_, at) => `page ${n}, shelf ${at}: ${at * 7 + n} books, ${at % 9} lent`).join(
    "\n",
  );

class Story {
  readonly #script: (readonly ReplyBlock[])[];
  readonly kit = new CommandKit({
    model: () => ({ content: this.#script.shift() ?? [text("So it is.")] }),
  });

  constructor(calls: readonly ReplyBlock[]) {
    const reading = Array.from({ length: pagesRead }, () => [[read], [text("I see.")]]).flat();
    this.#script = [...reading, calls, [text("Tidied.")]];
  }

  async open(): Promise<void> {
    for (let n = 1; n <= pagesRead; n += 1) {
      await this.kit.say(`Read page ${n}.`);
      await this.kit.results(page(n));
    }
    await this.kit.say("Tidy up.");
  }

  /** The units of the next body after the cache has expired, so that pending changes are shown. */
  async afterRest(words: string): Promise<readonly string[]> {
    this.kit.clock.advance(2 * 60 * 60_000);
    await this.kit.say(words);
    expect(this.kit.problems()).toEqual([]);
    return unitsOf(this.kit.sent.at(-1)?.body ?? "");
  }
}

/** All units except calls of our tools, their results, and manifests. */
function unitsOf(body: string): readonly string[] {
  const units = upstreamUnits(body);
  const calls = units.flatMap(({ kind, text: unitText }) =>
    kind === "tool-call" && unitText.includes('"name":"aperture_') ? [idIn(unitText, "id")] : [],
  );
  return units
    .filter(({ text: unitText }) => !unitText.includes("CONTEXT MANIFEST"))
    .filter(({ text: unitText }) => !calls.some((id) => unitText.includes(id)))
    .map(frozen);
}

function idIn(unit: string, name: string): string {
  return new RegExp(`"${name}":"([^"]+)"`).exec(unit)?.[1] ?? "no id";
}

describe("the commands of one turn", () => {
  test("are shown after a rewrite, and leave no byte after one undo", async () => {
    const [busy, idle] = [new Story(commands), new Story(harmlessCalls)];
    await busy.open();
    await idle.open();
    const steps = new Set(
      (await busy.kit.commandFrames()).flatMap(({ actor, cause, deltas }) =>
        actor === "model" && deltas.length > 0 ? [cause.step] : [],
      ),
    );
    expect(steps.size).toBe(1);
    const [changed, unchanged] = [await busy.afterRest("First."), await idle.afterRest("First.")];
    // Two blocks are pruned and two are shorter, or nothing would be proved.
    expect(changed.filter((unit) => !unchanged.includes(unit)).length).toBeGreaterThanOrEqual(4);
    await busy.kit.undo(await busy.kit.lastStep());
    const back = await busy.afterRest("Second.");
    expect(back).toEqual(await idle.afterRest("Second."));
    expect(back.length).toBeGreaterThan(20);
  });

  test("leave nothing to rewrite if they are undone before they were shown", async () => {
    const [busy, idle] = [new Story(commands), new Story(harmlessCalls)];
    await busy.open();
    await idle.open();
    await busy.kit.undo(await busy.kit.lastStep());
    expect(await busy.afterRest("First.")).toEqual(await idle.afterRest("First."));
    const frames = await busy.kit.frames();
    expect(frames.flatMap(({ deltas }) => deltas.filter(({ type }) => type === "epoch-started"))).toEqual([]);
  });
});
