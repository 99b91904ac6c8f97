import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countReads } from "../../test/support/count-reads.ts";
import { TestSession, type Wish } from "../../test/support/engine.ts";
import { intents, live, testSession } from "../../test/support/random-session.ts";
import { type BlockId, must, turnOf, unwrap, type ViewId, viewId } from "../base/index.ts";
import type { Block, Delta, Shown } from "../engine/frames/index.ts";
import { emptyState, replayFrames, type State } from "../engine/index.ts";
import { momentAt, now } from "../engine/moment/index.ts";
import { FactsTally } from "./facts-tally.ts";
import { type FactsInput, manifestFacts } from "./manifest-facts.ts";

const asked: FactsInput = { window: 200_000, used: 50_000, names: [], coldNames: [], since: [] };
/** One for each way facts are made: as they are, made smaller, with nothing counted, with what is unused. */
const questions: readonly FactsInput[] = [
  asked,
  { ...asked, used: 700, free: 3_000 },
  { ...asked, used: 0, window: null },
  { ...asked, needsCandidates: true },
];

/** One tally for each view, asked now and then. */
class Asker {
  readonly #tallies = new Map<ViewId, FactsTally>();

  expectSame(state: State, asking = questions): void {
    for (const [, view] of state.views.entries()) {
      const tally = this.#tallies.get(view.id) ?? new FactsTally();
      this.#tallies.set(view.id, tally);
      for (const question of asking) {
        expect(tally.facts(now(state), view, question)).toEqual(manifestFacts(now(state), view, question));
      }
    }
  }
}

type Intents = Parameters<typeof live>[0];

/** More is counted than in other random sessions, and more of it: only large blocks are told to expire. */
function sized(list: Intents): Intents {
  const others = ["scope", "exchange", "close-exchange", "identify"];
  return list.map((one) => {
    const verb = others.includes(one.verb) ? "tokens" : one.verb;
    return verb === "tokens" ? { ...one, verb, c: one.c * 7 } : one;
  });
}

describe("a tally says what a look at every block says", () => {
  it("in any session, in every view, however many frames lie between two questions", () => {
    fc.assert(
      fc.property(intents(80), fc.integer({ min: 1, max: 9 }), (list, step) => {
        const { states } = live(sized(list));
        const asker = new Asker();
        const some = states.filter((_, at) => at % step === 0);
        for (const [at, state] of some.entries()) asker.expectSame(state, [must(questions[at % 4], "four")]);
        asker.expectSame(must(states.at(-1), "a history has a state"));
      }),
      { numRuns: 30 },
    );
  });

  it("also when asked about another view, an earlier state, a past moment or a view of the past", () => {
    const pairs = fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 20 });
    fc.assert(
      fc.property(intents(60), pairs, (list, jumps) => {
        const { states } = live(sized(list));
        const tally = new FactsTally();
        for (const [a, b] of jumps) {
          const state = must(states[a % states.length], "within the history");
          const older = must(states[b % states.length], "within the history");
          const moment = unwrap(momentAt(state, Math.min(state.seq, older.seq)));
          for (const [, view] of older.views.entries()) {
            if (view.openedSeq > moment.seq) continue;
            expect(tally.facts(moment, view, asked)).toEqual(manifestFacts(moment, view, asked));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("also when the session was read from its log in between, so that no table is shared", () => {
    fc.assert(
      fc.property(intents(60), fc.nat(), (list, cut) => {
        const { frames, states } = live(sized(list));
        const asker = new Asker();
        asker.expectSame(must(states[cut % states.length], "within the history"));
        asker.expectSame(unwrap(replayFrames(emptyState(testSession), frames)));
      }),
      { numRuns: 30 },
    );
  });
});

const id = (block: number) => block as BlockId;

function counted(session: TestSession, wish: Wish & { readonly tokens?: number } = {}): BlockId {
  const { tokens = 1_000, ...block } = wish;
  const made = session.add(block);
  session.append([{ type: "tokens-counted", block: made, tokens: { count: tokens, exact: true } }]);
  return made;
}

type Step = readonly [string, (session: TestSession) => void];

/** Each step is one that the sums could miss; the tally is asked after every one of them. */
const situations: readonly { readonly what: string; readonly steps: readonly Step[] }[] = [
  {
    what: "runs that end",
    steps: [
      ["a block of the run", (session) => counted(session)],
      ["sent", (session) => session.turns(1)],
      ["a block with the next run", (session) => session.run()],
      ["a selected one", (session) => session.set(id(1), { selection: true })],
      ["and no more", (session) => session.set(id(1), { selection: false })],
    ],
  },
  {
    what: "a focus that ends with its turn, then with its run",
    steps: [
      ["blocks", (session) => [1, 2, 3].map(() => counted(session))],
      ["sent, and another run", (session) => [session.turns(1), session.run()]],
      ["focus", (session) => session.set(id(1), { focus: { run: 2, until: turnOf(2) } })],
      ["another", (session) => session.set(id(2), { focus: { run: 2, until: turnOf(9) } })],
      ["turns", (session) => session.turns(2)],
      ["a run", (session) => session.run()],
    ],
  },
  {
    what: "a pair whose other half is pinned, withheld, taken away and brought back",
    steps: [
      ["a call and its result", (session) => session.addPair({ kind: "tool-call" }, { kind: "tool-result" })],
      ["sent", (session) => session.turns(1)],
      ["pinned", (session) => session.set(id(1), { pin: "top" })],
      ["withheld", (session) => session.set(id(2), { withhold: true })],
      ["gone", (session) => session.append([{ type: "block-removed", block: asAdded(session, id(1)) }])],
      ["back", (session) => session.append([{ type: "block-added", block: asAdded(session, id(1)) }])],
    ],
  },
  {
    what: "an end of life that was put off before a fork",
    steps: [
      ["a large block", (session) => counted(session, { span: 20, tokens: 5_000 })],
      ["sent", (session) => session.turns(1)],
      ["ends soon", (session) => session.set(id(1), { ttl: { at: turnOf(6), spanTurns: 5 } })],
      ["shown in a fork", (session) => session.turns(1, session.fork())],
      ["and turns of that", (session) => session.turns(2, viewId(2))],
    ],
  },
  {
    what: "ranges that part, join and grow",
    steps: [
      ["blocks", (session) => [1, 2, 3, 4].map(() => counted(session))],
      [
        "two pruned",
        (session) => session.send({ shows: [shows(1, "placeholder"), shows(3, "placeholder")] }),
      ],
      ["the one between is taken away", (session) => session.append([removed(session, id(2))])],
      ["a reason", (session) => session.set(id(3), { archive: { reason: "done" } })],
      ["one more in a pruned message", (session) => counted(session, sameMessage(session, id(3)))],
      ["purged", (session) => session.append([{ type: "block-purged", block: id(4) }])],
      ["left behind", (session) => session.send({ below: null, shows: [shows(3, "trimmed")] })],
    ],
  },
];

function asAdded(session: TestSession, block: BlockId) {
  const { addedSeq: _, ...added } = must(session.state.blocks.get(block), "it was added").block;
  return added;
}
/** One more block may come to a message: same speaker, same turn. */
function sameMessage(session: TestSession, block: BlockId): Wish {
  const { message, turn } = asAdded(session, block);
  return { message, turn };
}
const removed = (session: TestSession, block: BlockId): Delta => ({
  type: "block-removed",
  block: asAdded(session, block),
});
const shows = (block: number, as: Shown) => ({ block: id(block), as });

describe("a tally follows", () => {
  it.each(situations)("$what", ({ steps }) => {
    const session = new TestSession();
    session.run();
    const asker = new Asker();
    for (const [, step] of steps) {
      step(session);
      asker.expectSame(session.state);
    }
  });

  it("a state from before the run it has seen last", () => {
    const session = new TestSession();
    session.run();
    counted(session);
    session.turns(1);
    const earlier = session.state;
    session.run();
    const asker = new Asker();
    for (const state of [earlier, session.state, earlier]) asker.expectSame(state);
  });

  it("the order blocks came in, also where one frame numbers them backwards", () => {
    const session = new TestSession();
    const blocks = [9, 7, 8].map((block) => session.wished({ kind: "system", id: id(block) }));
    session.append(blocks.map((block) => ({ type: "block-added", block })));
    session.turns(1);
    const tally = new FactsTally();
    tally.facts(now(session.state), session.view(), asked);
    for (const block of [7, 8, 9]) {
      session.append([{ type: "topics-set", block: id(block), from: [], to: [`text ${block}`] }]);
      session.set(id(block), { selection: true });
    }
    const { primacy, recency } = tally.facts(now(session.state), session.view(), asked);
    expect(primacy.named.map(({ name }) => name)).toEqual(["text 9", "text 7", "text 8"]);
    expect(recency.selected.map(({ block }) => block)).toEqual([9, 7, 8]);
  });
});

/** A long talk with its usual share of blocks that are archived, lowered, named and about to expire. */
class LongTalk {
  readonly session = new TestSession();
  readonly #like = this.session.wished();
  #next = 1;

  constructor(count: number) {
    const { session } = this;
    session.run();
    const ids = Array.from({ length: count / 500 }, () => this.#add(500)).flat();
    const old = ids.filter((block) => block % 6 === 0);
    for (const block of old) session.set(block, { archive: { reason: `stale output ${block}` } });
    for (let from = 0; from < count; from += 500) this.#send(ids.slice(from, from + 500), oldForm);
    session.run();
  }

  /** A turn as it comes: what the user said, what was called, what came of it. */
  turn(): void {
    this.#send(this.#add(3), () => "original");
  }

  #add(count: number): readonly BlockId[] {
    const { session } = this;
    const { next } = session.state;
    if (this.#next + count > next.block) {
      const stream = session.stream().id;
      const reserve = (of: "block" | "message"): Delta => {
        return { type: "ids-reserved", stream, of, from: next[of], to: next[of] + 500 };
      };
      session.append([reserve("block"), reserve("message")]);
    }
    const ids = Array.from({ length: count }, (_, at) => id(this.#next + at));
    this.#next += count;
    const like = { ...this.#like, turn: turnOf(session.turnNow() + 1) };
    session.append(ids.flatMap((block) => deltasFor(like, block)));
    return ids;
  }

  #send(ids: readonly BlockId[], as: (block: number) => Shown): void {
    this.session.send({ shows: ids.map((block) => shows(block, as(block))) });
    this.session.answer();
  }
}

function deltasFor(like: Block, block: BlockId): Delta[] {
  const kinds = ["user", "tool-call", "tool-result"] as const;
  const kind = block === 1 ? "system" : must(kinds[block % 3], "one of three");
  const ttl = { at: turnOf(Math.floor(block / 3) + 40), spanTurns: 20 };
  const message = block as number as Block["message"];
  return [
    { type: "block-added", block: { ...like, id: block, message, kind, ttl } },
    { type: "topics-set", block, from: [], to: [`src/module${block}/file.ts`] },
    { type: "tokens-counted", block, tokens: { count: 50 + (block % 9) * 300, exact: false } },
  ];
}

function oldForm(block: number): Shown {
  if (block % 6 === 0) return "placeholder";
  return block % 11 === 0 ? "trimmed" : "original";
}

/** Entries of the engine's tables that a tally reads after one more turn: the most over some turns. */
async function turnReads(talk: LongTalk): Promise<number> {
  const tally = new FactsTally();
  const look = (): unknown => tally.facts(now(talk.session.state), talk.session.view(), asked);
  look();
  const reads: number[] = [];
  for (let turn = 0; turn < 20; turn += 1) {
    talk.turn();
    reads.push(await countReads(look));
  }
  return Math.max(...reads);
}

it("reads what is new in a turn, not what the talk has come to", async () => {
  const [few, many] = [await turnReads(new LongTalk(500)), await turnReads(new LongTalk(5_000))];
  expect(few).toBeGreaterThan(0);
  expect(many).toBeLessThanOrEqual(few * 2);
});
