import type { PricedCommand } from "../../control/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import {
  changesSinceLines,
  commandPlanLines,
  commandResultText,
  ownWordsText,
  shorteningVerbs,
} from "../format/command-result.ts";
import { pluralText } from "../format/number-text.ts";
import { printable, printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { isConfirmed } from "../prompt.ts";
import { targetWord } from "../targets.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

type CommandBody = Readonly<Record<string, unknown>>;

/** Builds the command of a call, as the API takes it. */
type CommandBuilder = (call: ReadyCall) => CommandBody;

const targetCommand =
  (verb: string, ...flagNames: readonly string[]): CommandBuilder =>
  ({ operands, flags }) => ({
    verb,
    target: operands.map(targetWord),
    ...Object.fromEntries(flagNames.flatMap((name) => (flags.has(name) ? [[name, flags.get(name)]] : []))),
  });

const createCommand: CommandBuilder = ({ operands, flags }) => ({
  verb: "create",
  text: operands[0],
  ...(flags.has("topic") ? { topic: flags.get("topic") } : {}),
  ...(flags.has("supersedes") ? { supersedes: flags.get("supersedes") } : {}),
});

export const pin = commandVerb(targetCommand("pin", "position"));
export const unpin = commandVerb(targetCommand("unpin"));
export const focus = commandVerb(targetCommand("focus"));
export const compress = commandVerb(targetCommand("compress", "level"));
export const archive = commandVerb(targetCommand("archive", "reason"));
export const restore = commandVerb((call) =>
  call.flags.has("whole")
    ? { ...targetCommand("expand")(call), inPlace: true }
    : targetCommand("restore")(call),
);
export const withhold = commandVerb((call) =>
  targetCommand(call.flags.has("release") ? "release" : "withhold")(call),
);
export const create = commandVerb(createCommand);
export const update = commandVerb(({ operands: [block = "", text] }) => ({
  verb: "update",
  target: targetWord(block),
  text,
}));
export const scope = commandVerb(({ operands: [word, ...targets] }) => ({
  verb: "scope",
  scope: word,
  target: targets.map(targetWord),
}));
export const recall = commandVerb(({ operands }) => {
  const words = operands.map(targetWord);
  const areTargets = operands.every((word) => /^(?:#|block-|message-)?\d/.test(word));
  return { verb: "recall", target: areTargets ? words : JSON.stringify(operands.join(" ")) };
});
/** The changes since a turn. */
export const diffSince = commandVerb(({ flags }) => ({
  verb: "diff",
  ...(flags.has("since") ? { since: flags.get("since") } : {}),
}));

/** Purging cannot be undone, so the user must confirm it. */
export async function purge(call: ReadyCall): Promise<number> {
  const purgeBlocks = commandVerb(targetCommand("purge"));
  if (call.flags.has("yes") || call.flags.has("dry-run")) return await purgeBlocks(call);
  if (call.screen.mayPrompt) {
    const planned = await purgeBlocks({ ...call, flags: new Map([...call.flags, ["dry-run", ""]]) });
    if (planned !== exitCodes.ok) return planned;
    if (await isConfirmed(call, "Erase it permanently?")) return await purgeBlocks(call);
    call.screen.err("Nothing was erased.");
    return exitCodes.failed;
  }
  call.screen.err(
    "purge erases these blocks and every stored body that contains them, permanently. Undo cannot restore them.\n" +
      "--dry-run shows what it would erase, --yes erases it. To remove blocks only from the window, archive them.",
  );
  return exitCodes.usage;
}

function commandVerb(commandOf: CommandBuilder): (call: ReadyCall) => Promise<number> {
  return async (call) => {
    const command = commandOf(call);
    const found = await findSession(call.api, sessionArgument(call));
    if (!found.ok) return reportProblem(call, found.problem);
    const route = call.flags.has("dry-run") ? "/plan" : "/ops";
    const path = sessionPath(found.value.session.id, route, { stream: call.flags.get("stream") });
    const when = call.flags.get("when");
    const reply = await call.api.post<PricedCommand>(
      path,
      when === undefined ? { command } : { command, when },
    );
    if (!reply.ok) return reportProblem(call, reply.problem);
    if (wantsJson(call)) return printJson(call, reply.value.text);
    return printResult(call, reply.value.value);
  };
}

const reasonsMax = 5;

function printResult(call: ReadyCall, answer: PricedCommand): number {
  const { screen } = call;
  const { skipped, leftAlone, blocks, dryRun } = answer;
  for (const line of resultLines(answer)) screen.out(line);
  for (const line of leftAlone.slice(0, reasonsMax)) screen.err(printable(line, 300));
  const more = leftAlone.length - reasonsMax;
  if (more > 0) screen.err(`${pluralText(more, "more reason")} why blocks were skipped: --json shows all.`);
  const isNothing = blocks.length === 0 && answer.step === null && skipped.length > 0;
  if (!isQuiet(call) && !dryRun) for (const line of remarks(answer)) screen.err(line);
  return isNothing ? exitCodes.failed : exitCodes.ok;
}

function resultLines(answer: PricedCommand): readonly string[] {
  if (answer.verb === "recall") return [printableLines(answer.text)];
  if (answer.verb === "diff") return changesSinceLines(answer.text);
  return answer.dryRun ? commandPlanLines(answer) : [commandResultText(answer)];
}

function remarks({ mode, step, stays, verb }: PricedCommand): readonly string[] {
  const own = stays.length === 0 || !shorteningVerbs.has(verb) ? [] : [ownWordsText(stays)];
  if (step === null) return own;
  const undoHint = `\`aperture undo ${step}\` undoes it.`;
  return mode === "observe"
    ? [...own, "This session is only observed: its requests do not change.", undoHint]
    : [...own, undoHint];
}
