import { type BlockId, fail, must, ok, type Result, type SessionId } from "../../base/index.ts";
import {
  countedPlan,
  isSpoken,
  noActs,
  type Plan,
  printCommand,
  printTarget,
  resolveTarget,
} from "../../commands/index.ts";
import { type Moment, nextStep, now, placeOf, type Stream, turnNow, type View } from "../../engine/index.ts";
import { blockCopies } from "../read/block-copies.ts";
import type { CommandAnswer } from "../read/command-rows.ts";
import { chosenStream, modeIn, modelIn, viewIn } from "../read/look.ts";
import { shortMark, withShownMark } from "../read/mark.ts";
import type { CommandQuestion, Library } from "../read/questions.ts";
import { openState } from "../read/sessions.ts";
import { type Durable, withDurable } from "../record/durable.ts";
import type { LiveSession } from "../record/live-session.ts";
import type { RecordedLine } from "../record/recorded-line.ts";
import { logOf } from "./command-log.ts";
import { type Carried, type Commanding, carryOut, changedBlocks, surroundings } from "./commander.ts";
import { cutFor, fitIn } from "./user-cut.ts";
import { isOwnCommand, type OwnCommand, ownProposal, readUserCommand, type UserCommand } from "./user-own.ts";
import { purgeBlocks } from "./user-purge.ts";

/** What the user does to the context, by the same way as a model. A dry run goes it up to the log. */
export async function commandAnswer(
  library: Library,
  { session, stream: wanted, command: written, dryRun, when }: CommandQuestion,
): Promise<Result<CommandAnswer & Durable>> {
  const command = readUserCommand(written);
  if (!command.ok) return command;
  const found = await findStream(library, session, wanted);
  if (!found.ok) return found;
  const { id, stream } = found.value;
  const done = await library.within(id, async (live) => {
    const moment = now(live.state());
    const commanding = commandingIn(live, stream, dryRun);
    if (!commanding.ok) return commanding;
    const inPlace = typeof written === "object" && written["inPlace"] === true;
    const carried = await carriedOut(library, { ...commanding.value, inPlace }, command.value);
    if (!carried.ok) return carried;
    const { refused } = carried.value.plan.proposed;
    if (refused !== null) return { ok: false, error: refused };
    if (when === "now" && carried.value.step !== null) commanding.value.line.isUrged = true;
    return ok(answerOf({ live, moment, stream, command: command.value, dryRun }, carried.value));
  });
  return done.ok ? ok({ ...done.value, text: withDurable(done.value.text, done.value) }) : done;
}

export type FoundStream = { readonly id: SessionId; readonly stream: Stream };

export async function findStream(
  library: Library,
  session: string,
  wanted: number | undefined,
): Promise<Result<FoundStream>> {
  const state = await openState(library, session);
  if (!state.ok) return state;
  const stream = chosenStream(now(state.value), wanted);
  if (!stream.ok) return stream;
  if (stream.value === null) return fail("AP_STREAM_UNKNOWN", { stream: "main" });
  return ok({ id: state.value.session, stream: stream.value });
}

type UserCommanding = Commanding & { readonly line: RecordedLine };

function commandingIn(live: LiveSession, stream: Stream, isDry: boolean): Result<UserCommanding> {
  const line = live.line(stream.name);
  if (line === null) return fail("AP_STREAM_UNKNOWN", { stream: stream.name });
  const model = modelIn(now(live.state()), stream);
  const asked = { actor: "user", mode: "auto", isTainted: false, nonce: shortMark, request: null } as const;
  return ok({ live: logOf(live, line), line, model, isDry, ...asked });
}

function carriedOut(
  library: Library,
  commanding: Commanding,
  command: UserCommand,
): Promise<Result<Carried>> {
  return isOwnCommand(command)
    ? carryOutOwn(library, commanding, command)
    : carryOut(library, commanding, command);
}

/** What only the user can do: the same steps, from what it would come to until it is in the log. */
async function carryOutOwn(
  library: Library,
  commanding: Commanding,
  command: OwnCommand,
): Promise<Result<Carried>> {
  const { live, isDry = false } = commanding;
  const { change, context } = await surroundings(library, commanding);
  const { moment, view } = change;
  const blocks = resolveTarget({ moment, view, topic: context.topic }, command.target);
  if (!blocks.ok) return blocks;
  const barred = observedProblem(command, moment, view);
  if (barred !== null) return barred;
  const isLasting = command.verb === "purge";
  // Once it is gone, nobody can tell any more which results of ours have shown it.
  const copies = isLasting ? await blockCopies(live.state(), blocks.value, library.store) : [];
  const proposal = ownProposal(change, command, [...blocks.value, ...copies.map(({ id }) => id)]);
  if (!proposal.ok) return proposal;
  const nothing = { asks: [], refused: null, reads: [], notes: [], acts: noActs, reminder: null };
  const plan = countedPlan(change, { ...proposal.value, ...nothing });
  const changed = ownChanged(plan, isLasting);
  const isDone = !isDry && changed.length > 0;
  const step = isDone && !isLasting ? nextStep(live.state()) : null;
  if (isDone) {
    const cause = { type: "command", step, reason: printUserCommand(command).slice(0, 200) } as const;
    const done = live.carry({ deltas: plan.proposed.deltas, actor: "user", cause });
    if (!done.ok) return done;
    // What is gone cannot be told any more by what it would be found again.
    if (isLasting) await library.withhold?.(live.state());
    const erased = isLasting ? await purgeBlocks(library.store, live.state(), changed) : ok(null);
    if (!erased.ok) return erased;
  }
  const text = ownText(command, changed, plan);
  return ok({ text, isError: changed.length === 0 && plan.proposed.skipped.length > 0, plan, changed, step });
}

/** What goes up as its client sent it cannot be kept from going up. */
function observedProblem({ verb }: OwnCommand, moment: Moment, view: View): Result<never> | null {
  const stream = moment.state.streams.get(view.stream) ?? null;
  if (verb !== "withhold" || modeIn(moment, stream) !== "observe") return null;
  const why = "this session is only observed, so what its client sends goes up as it is";
  return fail("AP_COMMAND_REFUSED", { verb, what: "this", why });
}

/** What is withheld beside what is purged, because it belongs to it, is not erased. */
function ownChanged({ proposed }: Plan, isPurge: boolean): readonly BlockId[] {
  const deltas = proposed.deltas.filter(({ type }) => !isPurge || type === "block-purged");
  const blocks = deltas.flatMap((delta) =>
    "block" in delta && typeof delta.block === "number" ? [delta.block] : [],
  );
  return [...new Set(blocks)];
}

const ownWords = {
  restore: "restored",
  withhold: "withheld",
  release: "released",
  purge: "purged for good",
  scope: "given that scope",
} as const;

function ownText({ verb }: OwnCommand, changed: readonly BlockId[], { proposed }: Plan): string {
  const done = changed.length === 0 ? [] : [`${changed.map((id) => `#${id}`).join(", ")} ${ownWords[verb]}.`];
  const left = new Set(proposed.skipped.map(({ error }) => error.message));
  const lines = [...done, ...left];
  return lines.length === 0 ? "Nothing changed: it is so already." : lines.join("\n");
}

export function printUserCommand(command: UserCommand): string {
  if (!isOwnCommand(command)) return printCommand(command);
  const scope = command.verb === "scope" ? [command.scope] : [];
  return `@${command.verb}(${[...scope, printTarget(command.target)].join(", ")})`;
}

type Acted = {
  readonly live: LiveSession;
  /** Before it was done. */
  readonly moment: Moment;
  readonly stream: Stream;
  readonly command: UserCommand;
  readonly dryRun: boolean;
};

/** What is sent as the model said it, whatever is wanted of it. */
function spokenAmong(moment: Moment, view: View, blocks: readonly BlockId[]): readonly BlockId[] {
  return blocks.filter((id) => {
    const place = placeOf(moment, view, id);
    return place !== null && isSpoken(place);
  });
}

function answerOf({ live, moment, stream, command, dryRun }: Acted, carried: Carried): CommandAnswer {
  const { plan, step, text } = carried;
  const view = must(viewIn(moment, stream), "a stream that was acted in has a view");
  const { session, seq } = live.state();
  const blocks = isOwnCommand(command) ? ownChanged(plan, command.verb === "purge") : changedBlocks(plan);
  return {
    session,
    seq,
    stream: stream.id,
    turn: turnNow(moment, stream),
    mode: modeIn(moment, stream),
    model: modelIn(moment, stream),
    dryRun,
    verb: command.verb,
    command: printUserCommand(command),
    step,
    blocks,
    text: withShownMark(text, shortMark),
    skipped: plan.proposed.skipped.map(({ block, error }) => ({
      block,
      code: error.code,
      message: error.message,
    })),
    locks: plan.locks.map(({ block }) => block),
    conflicts: plan.conflicts,
    freed: Math.floor(plan.freedTokens * fitIn(moment, view)),
    unsized: plan.unsized,
    stays: spokenAmong(moment, view, blocks),
    cut: cutFor(moment, view, plan),
  };
}
