import { type BlockId, must, ok, type Result, type StepId } from "../../base/index.ts";
import {
  type Command,
  type CommandContext,
  commandOf,
  type Permission,
  type Plan,
  parseCommand,
  planCommand,
  printCommand,
  textCallName,
  type Verb,
  withFailure,
} from "../../commands/index.ts";
import {
  type Actor,
  type Change,
  type Moment,
  modeOf,
  nextStep,
  now,
  permissionsOf,
  spendPermission,
  streamOf,
  turnNow,
  type View,
  viewOf,
} from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { estimateText } from "../../tokens/index.ts";
import { assumedWindow } from "../assumed-window.ts";
import type { CommandCall, CommandResult, CommandsAsked } from "../desk-port.ts";
import { sourceOf } from "./asking-source.ts";
import type { CommandedLine, CommandLog } from "./command-log.ts";
import { toldText } from "./command-text.ts";
import { askedOf } from "./decide-asking.ts";
import { type KeptPermissions, noPermissions, permissionsOfAlways } from "./kept-permissions.ts";
import { readingText } from "./reading.ts";
import { olderTexts, rememberNote } from "./remember.ts";

export type CommanderPlace = {
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  /** What the user has said for always; nothing where nothing is said. */
  readonly permissions?: KeptPermissions;
};

/** Whose command it is, and in which light it is seen. */
export type Commanding = {
  readonly live: CommandLog;
  /** The stream in whose view it is carried out. */
  readonly line: CommandedLine;
  readonly actor: Actor;
  readonly mode: CommandContext["mode"];
  readonly isTainted: boolean;
  readonly nonce: string;
  readonly model: string | null;
  /** What belongs together for undoing; null: it is a step of its own. */
  readonly request: string | null;
  /** The user has said yes to this very command: nobody asks again, and limits were the user's to judge. */
  readonly isApproved?: boolean;
  /** Only what it would come to: nothing is appended, and nothing kept of it. */
  readonly isDry?: boolean;
  /** The user wants blocks back where they stood. */
  readonly inPlace?: boolean;
};

export type Carried = {
  readonly text: string;
  readonly isError: boolean;
  readonly plan: Plan;
  readonly changed: readonly BlockId[];
  /** Null where there is nothing to undo. */
  readonly step: StepId | null;
};

/** Carries out what an answer has asked of our tools, one after the other. */
export async function carryOutCalls(
  place: CommanderPlace,
  commanding: Commanding,
  { calls }: CommandsAsked,
): Promise<readonly CommandResult[]> {
  const results: CommandResult[] = [];
  const { line, request } = commanding;
  for (const call of calls) {
    const result = line.doings.toldOf(request, call.id) ?? (await carryOutCall(place, commanding, call));
    line.doings.tell(request, result);
    results.push(result);
  }
  return results;
}

async function carryOutCall(
  place: CommanderPlace,
  commanding: Commanding,
  { id, name, input }: CommandCall,
): Promise<CommandResult> {
  const command = name === textCallName ? parseCommand(`${input["text"]}`) : commandOf(name, input);
  if (!command.ok) {
    const { doings, context, turn } = await surroundings(place, commanding);
    const { acts, reminder } = withFailure(context.acts, turn);
    doings.did(commanding.request, acts);
    const text = [command.error.message, ...(reminder === null ? [] : [reminder])].join("\n");
    return { id, text, isError: true };
  }
  const carried = await carryOut(place, commanding, command.value);
  if (!carried.ok) return { id, text: carried.error.message, isError: true };
  return { id, text: carried.value.text, isError: carried.value.isError };
}

/** One command, from what it would come to until it is in the log and can be told. */
export async function carryOut(
  place: CommanderPlace,
  commanding: Commanding,
  command: Command,
): Promise<Result<Carried>> {
  const { live, line, actor, isTainted, request } = commanding;
  const { doings, change, context } = await surroundings(place, commanding);
  const plan = planCommand(change, command, context);
  const { proposed } = plan;
  if (commanding.isDry) return ok(dryRun(command, plan, await readTexts(place, commanding, plan)));
  const older = await olderTexts(change, proposed.notes, place.store);
  const noted = proposed.notes.map((note) =>
    rememberNote({ change, ids: line.ids, isTainted, olderTexts: older }, note),
  );
  const deltas = [...proposed.deltas, ...noted.flatMap((one) => one.deltas)];
  const contents = noted.flatMap((one) => one.contents);
  const reserved = noted.flatMap((one) => one.reserved);
  const prepared = live.carry({ deltas: reserved, actor, cause: withoutStep });
  if (!prepared.ok) return prepared;
  // That a block was used is nothing to undo.
  const step = deltas.every(({ type }) => type === "reference-set") ? null : stepFor(commanding);
  const cause = { type: "command", step, reason: reasonOf(command) } as const;
  const done = live.carry({ deltas, actor, cause, attached: { contents } });
  if (!done.ok) return done;
  if (noted.length > 0) doings.hasMemories = true;
  const counted = noted.flatMap((one) => one.counted);
  const source = proposed.asks.length === 0 ? null : await sourceOf(place.store, change, commanding);
  const { deltas: asks, contents: bringing } = askedOf(change, command, { proposed, source });
  const beside = live.carry({
    deltas: [...counted, ...asks, ...spendPermission(change, { actor, verb: command.verb })],
    actor,
    cause: withoutStep,
    attached: { contents: bringing },
  });
  if (!beside.ok) return beside;
  if (actor !== "user" && !commanding.isApproved) doings.did(request, proposed.acts);
  const texts = await readTexts(place, commanding, plan);
  const remembered = noted.flatMap((one) => one.told);
  const { freedTokens } = plan;
  const changed = changedBlocks(plan);
  const text = toldText({ command, proposed, changed, freedTokens, remembered, texts });
  const hasDone = changed.length + remembered.length + texts.length + proposed.asks.length > 0;
  return ok({ text, isError: !hasDone && hasFailed(plan), plan, changed, step });
}

/** What comes with a command and is not undone with it. */
const withoutStep = { type: "command", step: null, reason: "" } as const;

function hasFailed({ proposed: { refused, skipped } }: Plan): boolean {
  return refused !== null || skipped.length > 0;
}

/** The same plan, and nothing that follows from it; but what is only read is read. */
function dryRun(command: Command, plan: Plan, texts: readonly string[]): Carried {
  const { proposed, freedTokens } = plan;
  const changed = changedBlocks(plan);
  const text = toldText({ command, proposed, changed, freedTokens, remembered: [], texts });
  const hasDone = changed.length + proposed.notes.length + texts.length + proposed.asks.length > 0;
  return { text, isError: !hasDone && hasFailed(plan), plan, changed, step: null };
}

function stepFor({ live, line, request }: Commanding): StepId {
  return request === null ? nextStep(live.state()) : line.doings.stepOf(live.state(), request);
}

/** What a command is judged by, as it stands now. */
export async function surroundings(place: CommanderPlace, commanding: Commanding) {
  const { store, windowOf, permissions = noPermissions } = place;
  const { live, line, actor, mode, isTainted, model, isApproved = false, inPlace = false } = commanding;
  const { doings } = line;
  const moment = now(live.state());
  const view = viewIn(moment, line);
  await doings.recall.ready({ moment, view, store });
  const change: Change = { moment, view, actor };
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const context: CommandContext = {
    topic: (words) => doings.recall.topic(words),
    mode: modeOf(moment) ?? mode,
    tainted: isTainted,
    permissions: [...permissionsOfAlways(permissions), ...permissionsIn(change)],
    acts: doings.actsFor(commanding.request, turn),
    windowTokens: windowOf(model) ?? assumedWindow,
    countTokens: (text) => Math.ceil(estimateText(text, model)),
    inPlace,
    isApproved,
  };
  return { doings, change, context, turn };
}

function viewIn(moment: Moment, { index }: CommandedLine): View {
  return must(viewOf(moment, index.view), "an index belongs to a view");
}

function permissionsIn({ moment, view }: Change): readonly Permission[] {
  return permissionsOf(moment, view).map(({ actor, verb, rule, scope }) => ({
    verb: verb as Verb | "all",
    actor,
    zone: "all",
    answer: rule,
    lasts: scope,
  }));
}

async function readTexts(
  { store, windowOf }: CommanderPlace,
  { live, line, nonce }: Commanding,
  { proposed }: Plan,
): Promise<readonly string[]> {
  const state = live.state();
  const moment = now(state);
  const { recall } = line.doings;
  const needed = (turn: number) => line.names?.needed(turn) ?? [];
  const reading = { state, moment, view: viewIn(moment, line), store, windowOf, nonce, recall, needed };
  const texts: string[] = [];
  for (const one of proposed.reads) texts.push(await readingText(reading, one));
  return texts;
}

/** Being referred to is no change that anybody would have to be told of. */
export function changedBlocks({ proposed }: Plan): readonly BlockId[] {
  const blocks = proposed.deltas.flatMap((delta) =>
    delta.type !== "reference-set" && "view" in delta && "block" in delta && typeof delta.block === "number"
      ? [delta.block]
      : [],
  );
  return [...new Set(blocks)];
}

function reasonOf(command: Command): string {
  return command.verb === "archive" ? command.reason : printCommand(command).slice(0, reasonChars);
}

const reasonChars = 200;
