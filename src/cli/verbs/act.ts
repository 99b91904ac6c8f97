import type { PricedCommand } from "../../control/index.ts";
import { sessionPath } from "../api-path.ts";
import { isConfirmed } from "../asking.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { didText, plannedLines } from "../format/command.ts";
import { manyText } from "../format/numbers.ts";
import { printable, printableLines } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { targetWord } from "../targets.ts";
import { exitCodes } from "../usage.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a call asks for, as the API takes it. */
type CommandOf = (call: ReadyCall) => Fields;

const pointed =
  (verb: string, ...named: readonly string[]): CommandOf =>
  ({ operands, flags }) => ({
    verb,
    target: operands.map(targetWord),
    ...Object.fromEntries(named.flatMap((name) => (flags.has(name) ? [[name, flags.get(name)]] : []))),
  });

const created: CommandOf = ({ operands, flags }) => ({
  verb: "create",
  text: operands[0],
  ...(flags.has("topic") ? { topic: flags.get("topic") } : {}),
  ...(flags.has("supersedes") ? { supersedes: flags.get("supersedes") } : {}),
});

export const pin = acting(pointed("pin", "position"));
export const unpin = acting(pointed("unpin"));
export const focus = acting(pointed("focus"));
export const compress = acting(pointed("compress", "level"));
export const archive = acting(pointed("archive", "reason"));
export const restore = acting((call) =>
  call.flags.has("whole") ? { ...pointed("expand")(call), inPlace: true } : pointed("restore")(call),
);
export const withhold = acting((call) => pointed(call.flags.has("release") ? "release" : "withhold")(call));
export const create = acting(created);
export const update = acting(({ operands: [block = "", text] }) => ({
  verb: "update",
  target: targetWord(block),
  text,
}));
export const scope = acting(({ operands: [word, ...targets] }) => ({
  verb: "scope",
  scope: word,
  target: targets.map(targetWord),
}));
export const recall = acting(({ operands }) => {
  const words = operands.map(targetWord);
  const arePlaces = operands.every((word) => /^(?:#|block-|message-)?\d/.test(word));
  return { verb: "recall", target: arePlaces ? words : JSON.stringify(operands.join(" ")) };
});
/** Since a turn, as the model is told it. */
export const diffSince = acting(({ flags }) => ({
  verb: "diff",
  ...(flags.has("since") ? { since: flags.get("since") } : {}),
}));

/** Nothing brings it back, so it is asked for twice. */
export async function purge(call: ReadyCall): Promise<number> {
  const act = acting(pointed("purge"));
  if (call.flags.has("yes") || call.flags.has("dry-run")) return await act(call);
  if (call.screen.isAsking) {
    const planned = await act({ ...call, flags: new Map([...call.flags, ["dry-run", ""]]) });
    if (planned !== exitCodes.ok) return planned;
    if (await isConfirmed(call, "Erase it for good?")) return await act(call);
    call.screen.err("Nothing was erased.");
    return exitCodes.failed;
  }
  call.screen.err(
    "purge erases what is stored of these blocks for good, with every body that held it: no undo brings it back.\n" +
      "--dry-run says what it would erase, --yes does it. To take blocks out of the window only, archive them.",
  );
  return exitCodes.usage;
}

const reading = ["recall", "diff"];

function acting(commandOf: CommandOf): (call: ReadyCall) => Promise<number> {
  return async (call) => {
    const command = commandOf(call);
    const found = await findSession(call.api, sessionWord(call));
    if (!found.ok) return giveUp(call, found.problem);
    const route = call.flags.has("dry-run") ? "/plan" : "/ops";
    const path = sessionPath(found.value.session.id, route, { stream: call.flags.get("stream") });
    const when = call.flags.get("when");
    const reply = await call.api.post<PricedCommand>(
      path,
      when === undefined ? { command } : { command, when },
    );
    if (!reply.ok) return giveUp(call, reply.problem);
    if (wantsJson(call)) return printJson(call, reply.value.text);
    return show(call, reply.value.value);
  };
}

const reasonsMax = 5;

function show(call: ReadyCall, answer: PricedCommand): number {
  const { screen } = call;
  const { skipped, leftAlone, blocks, dryRun } = answer;
  if (reading.includes(answer.verb)) screen.out(printableLines(answer.text));
  else for (const line of dryRun ? plannedLines(answer) : [didText(answer)]) screen.out(line);
  for (const line of leftAlone.slice(0, reasonsMax)) screen.err(printable(line, 300));
  const more = leftAlone.length - reasonsMax;
  if (more > 0) screen.err(`${manyText(more, "more reason")} to leave blocks alone: --json has all.`);
  const isNothing = blocks.length === 0 && answer.step === null && skipped.length > 0;
  if (!isQuiet(call) && !dryRun) for (const line of remarks(answer)) screen.err(line);
  return isNothing ? exitCodes.failed : exitCodes.ok;
}

function remarks({ mode, step, stays, verb }: PricedCommand): readonly string[] {
  const own =
    stays.length === 0 || verb === "purge"
      ? []
      : [`${manyText(stays.length, "block")} of the model's own words: sent as before.`];
  if (step === null) return own;
  const back = `\`aperture undo ${step}\` takes it back.`;
  return mode === "observe"
    ? [...own, "This session is only observed: what is sent does not change.", back]
    : [...own, back];
}
