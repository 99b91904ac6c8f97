// One undo takes back all that a model did in one turn: the next rewrite sends the bytes of a session in
// which it did nothing.
import { describe, expect, test } from "vitest";
import type { ReplyBlock } from "../../src/testing/index.ts";
import { frozen, upstreamUnits } from "../support/golden-units.ts";
import { HandsKit } from "../support/hands-kit.ts";

const text = (words: string): ReplyBlock => ({ type: "text", text: words });
const read: ReplyBlock = { type: "tool_use", name: "read", input: {} };
const own = (name: string, input: Record<string, string>): ReplyBlock => ({
  type: "tool_use",
  name: `aperture_${name}`,
  input,
});

/** The last is so new that there is nothing shorter of it yet. */
const pagesRead = 6;
/** The results of the pages, by their numbers. */
const pages = { first: "6", second: "10", third: "14", fourth: "18", fifth: "22" } as const;
const commands = [
  own("archive", { target: `${pages.second}, ${pages.third}`, reason: "read" }),
  own("manage", { verb: "compress", target: pages.fourth, level: "summarized" }),
  own("manage", { verb: "compress", target: pages.fifth, level: "minimal" }),
  own("manage", { verb: "pin", target: pages.first, position: "top" }),
];
/** As many calls, so that everything has the same number, and none of them changes anything. */
const questions = commands.map(() => own("read", { verb: "manifest", detail: "summary" }));

const page = (n: number): string =>
  Array.from({ length: 160 }, (_, at) => `page ${n}, shelf ${at}: ${at * 7 + n} books, ${at % 9} lent`).join(
    "\n",
  );

class Story {
  readonly #script: (readonly ReplyBlock[])[];
  readonly kit = new HandsKit({
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

  /** The units of the next body, when nothing is cached any more: what is wanted is shown. */
  async afterRest(words: string): Promise<readonly string[]> {
    this.kit.clock.advance(2 * 60 * 60_000);
    await this.kit.say(words);
    expect(this.kit.problems()).toEqual([]);
    return unitsOf(this.kit.sent.at(-1)?.body ?? "");
  }
}

/** All units but what was asked of our tools, what they answered, and what a manifest tells of one turn. */
function unitsOf(body: string): readonly string[] {
  const units = upstreamUnits(body);
  const calls = units.flatMap(({ kind, text: said }) =>
    kind === "tool-call" && said.includes('"name":"aperture_') ? [idIn(said, "id")] : [],
  );
  return units
    .filter(({ text: said }) => !said.includes("CONTEXT MANIFEST"))
    .filter(({ text: said }) => !calls.some((id) => said.includes(id)))
    .map(frozen);
}

function idIn(unit: string, name: string): string {
  return new RegExp(`"${name}":"([^"]+)"`).exec(unit)?.[1] ?? "no id";
}

describe("what a model did in one turn", () => {
  test("is shown after a rewrite, and after one undo to the byte as if it had never been", async () => {
    const [busy, idle] = [new Story(commands), new Story(questions)];
    await busy.open();
    await idle.open();
    const steps = new Set(
      (await busy.kit.commandFrames()).flatMap(({ actor, cause, deltas }) =>
        actor === "model" && deltas.length > 0 ? [cause.step] : [],
      ),
    );
    expect(steps.size).toBe(1);
    const [changed, unchanged] = [await busy.afterRest("First."), await idle.afterRest("First.")];
    // Two are pruned and two are shorter, or nothing would be proved.
    expect(changed.filter((unit) => !unchanged.includes(unit)).length).toBeGreaterThanOrEqual(4);
    await busy.kit.undo(await busy.kit.lastStep());
    const back = await busy.afterRest("Second.");
    expect(back).toEqual(await idle.afterRest("Second."));
    expect(back.length).toBeGreaterThan(20);
  });

  test("and before anything of it was shown, one undo leaves nothing to rewrite", async () => {
    const [busy, idle] = [new Story(commands), new Story(questions)];
    await busy.open();
    await idle.open();
    await busy.kit.undo(await busy.kit.lastStep());
    expect(await busy.afterRest("First.")).toEqual(await idle.afterRest("First."));
    const frames = await busy.kit.frames();
    expect(frames.flatMap(({ deltas }) => deltas.filter(({ type }) => type === "epoch-started"))).toEqual([]);
  });
});
