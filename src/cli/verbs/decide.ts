import type { PricedApproval, PricedApprovals } from "../../control/index.ts";
import type { DecideAnswer } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import { giveUp, isQuiet, type ReadyCall } from "../call.ts";
import { blockList } from "../format/blocks.ts";
import { billText } from "../format/command.ts";
import { manyText, tokensText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { findSession, sessionWord } from "../session-choice.ts";
import { exitCodes } from "../usage.ts";

/** What waits for the user. */
export async function approvals(call: ReadyCall): Promise<number> {
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const query = { stream: call.flags.get("stream"), all: call.flags.has("all") ? 1 : undefined };
  const path = sessionPath(found.value.session.id, "/approvals", query);
  const reply = await call.api.json<PricedApprovals>(path);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows, waiting } = reply.value.value;
  if (rows.length === 0) call.screen.err("Nothing waits for you.");
  for (const row of rows) for (const line of approvalLines(row)) call.screen.out(line);
  if (waiting > 0 && !isQuiet(call))
    call.screen.err("`aperture approve N` lets it happen, `aperture deny N` does not.");
  return exitCodes.ok;
}

function approvalLines(row: PricedApproval): readonly string[] {
  const { approval, actor, verb, blocks, why, tokens, stand, turnsLeft, text, source, bill, reason } = row;
  const about = blocks.length === 0 ? "" : ` ${blockList(blocks)}`;
  const left = stand === "waiting" ? `waits for ${manyText(turnsLeft, "more turn")}` : stand;
  const said = reason === "" ? "" : `: ${printable(reason, 200)}`;
  return [
    `${approval}  ${actor} wants to ${printable(verb)}${about} (~${tokensText(tokens)}), ${left}${said}`,
    `   why asked: ${printable(why, 300)}`,
    ...(text === null ? [] : [`   text: ${printable(text, 300)}`]),
    ...(source === null ? [] : [sourceText(source)]),
    ...(bill === null ? [] : [`   ${billText(bill)}`]),
  ];
}

function sourceText({ block, kind, text }: NonNullable<PricedApproval["source"]>): string {
  const how = kind === "assistant" ? "it said" : "it had read";
  return `   ${how} in #${block}: ${printable(text, 300)}`;
}

export const approve = (call: ReadyCall): Promise<number> => decide(call, "approve");
export const deny = (call: ReadyCall): Promise<number> => decide(call, "deny");

async function decide(call: ReadyCall, decision: "approve" | "deny"): Promise<number> {
  const wanted = wantedPath(call, decision);
  if (!wanted.ok) return giveUp(call, wanted.problem);
  const found = await findSession(call.api, sessionWord(call));
  if (!found.ok) return giveUp(call, found.problem);
  const reason = call.flags.get("reason");
  const scope = call.flags.get("scope");
  const body = {
    decision,
    ...(reason === undefined ? {} : { reason }),
    ...(scope === undefined ? {} : { scope }),
  };
  const path = sessionPath(found.value.session.id, wanted.value);
  const reply = await call.api.post<DecideAnswer>(path, body);
  if (!reply.ok) return giveUp(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  if (rows.length === 0) call.screen.err("Nothing waits for you.");
  for (const { approval, verb, blocks, stand, outcome, step } of rows) {
    const about = blocks.length === 0 ? "" : ` of ${blockList(blocks)}`;
    const came = outcome === null ? "" : `: ${printable(outcome.split("\n")[0] ?? "", 300)}`;
    const back = step === null ? "" : ` (step ${step})`;
    call.screen.out(`${stand} ${approval}, ${printable(verb)}${about}${came}${back}`);
  }
  if (rows.length > 0 && !isQuiet(call)) call.screen.err("The model is told with its next turn.");
  return exitCodes.ok;
}

/** One of them or all: which is meant must be said. */
function wantedPath({ operands, flags }: ReadyCall, verb: string): Outcome<string> {
  const [word] = operands;
  const usage = `say which: \`aperture ${verb} 3\`, or \`aperture ${verb} --all\`; \`aperture approvals\` lists them.`;
  if ((word === undefined) !== flags.has("all")) return stop(exitCodes.usage, usage);
  if (word === undefined) return succeed("/approvals");
  return /^[1-9]\d{0,8}$/.test(word)
    ? succeed(`/approvals/${word}`)
    : stop(exitCodes.usage, `"${printable(word, 40)}" is no number of an approval; ${usage}`);
}
