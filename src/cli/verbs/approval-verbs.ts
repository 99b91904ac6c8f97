import type { PricedApproval, PricedApprovals } from "../../control/index.ts";
import type { DecideAnswer } from "../../execute/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { findSession, sessionArgument } from "../api/session-choice.ts";
import { exitCodes } from "../exit-codes.ts";
import { blockList } from "../format/block-list.ts";
import { billText } from "../format/command-result.ts";
import { pluralText, tokensText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { printJson, wantsJson } from "../json-output.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { isQuiet, type ReadyCall, reportProblem } from "../verb-call.ts";

export async function approvals(call: ReadyCall): Promise<number> {
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const query = { stream: call.flags.get("stream"), all: call.flags.has("all") ? 1 : undefined };
  const path = sessionPath(found.value.session.id, "/approvals", query);
  const reply = await call.api.json<PricedApprovals>(path);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows, waiting } = reply.value.value;
  if (rows.length === 0) call.screen.err("No command is waiting.");
  for (const row of rows) for (const line of approvalLines(row)) call.screen.out(line);
  if (waiting > 0 && !isQuiet(call))
    call.screen.err("`aperture approve N` approves one, `aperture deny N` denies it.");
  return exitCodes.ok;
}

function approvalLines(row: PricedApproval): readonly string[] {
  const { approval, actor, verb, blocks, why, tokens, stand, turnsLeft, text, source, bill, reason } = row;
  const about = blocks.length === 0 ? "" : ` ${blockList(blocks)}`;
  const left = stand === "waiting" ? `waits for ${pluralText(turnsLeft, "more turn")}` : stand;
  const decision = reason === "" ? "" : `: ${printable(reason, 200)}`;
  return [
    `${approval}  ${actor} wants to ${printable(verb)}${about} (~${tokensText(tokens)}), ${left}${decision}`,
    `   why it waits: ${printable(why, 300)}`,
    ...(text === null ? [] : [`   text: ${printable(text, 300)}`]),
    ...(source === null ? [] : [sourceText(source)]),
    ...(bill === null ? [] : [`   ${billText(bill)}`]),
  ];
}

function sourceText({ block, kind, text }: NonNullable<PricedApproval["source"]>): string {
  const how = kind === "assistant" ? "it wrote" : "it had read";
  return `   ${how} in #${block}: ${printable(text, 300)}`;
}

export const approve = (call: ReadyCall): Promise<number> => decide(call, "approve");
export const deny = (call: ReadyCall): Promise<number> => decide(call, "deny");

async function decide(call: ReadyCall, decision: "approve" | "deny"): Promise<number> {
  const route = approvalPath(call, decision);
  if (!route.ok) return reportProblem(call, route.problem);
  const found = await findSession(call.api, sessionArgument(call));
  if (!found.ok) return reportProblem(call, found.problem);
  const reason = call.flags.get("reason");
  const scope = call.flags.get("scope");
  const body = {
    decision,
    ...(reason === undefined ? {} : { reason }),
    ...(scope === undefined ? {} : { scope }),
  };
  const path = sessionPath(found.value.session.id, route.value);
  const reply = await call.api.post<DecideAnswer>(path, body);
  if (!reply.ok) return reportProblem(call, reply.problem);
  if (wantsJson(call)) return printJson(call, reply.value.text);
  const { rows } = reply.value.value;
  if (rows.length === 0) call.screen.err("No command is waiting.");
  for (const { approval, verb, blocks, stand, outcome, step } of rows) {
    const about = blocks.length === 0 ? "" : ` of ${blockList(blocks)}`;
    const result = outcome === null ? "" : `: ${printable(outcome.split("\n")[0] ?? "", 300)}`;
    const stepNumber = step === null ? "" : ` (step ${step})`;
    call.screen.out(`${stand} ${approval}, ${printable(verb)}${about}${result}${stepNumber}`);
  }
  if (rows.length > 0 && !isQuiet(call)) call.screen.err("The model learns it in its next turn.");
  return exitCodes.ok;
}

/** Either one approval or `--all`. */
function approvalPath({ operands, flags }: ReadyCall, verb: string): CliResult<string> {
  const [word] = operands;
  const usage = `Say which: \`aperture ${verb} 3\`, or \`aperture ${verb} --all\`. \`aperture approvals\` lists them.`;
  if ((word === undefined) !== flags.has("all")) return stop(exitCodes.usage, usage);
  if (word === undefined) return succeed("/approvals");
  return /^[1-9]\d{0,8}$/.test(word)
    ? succeed(`/approvals/${word}`)
    : stop(exitCodes.usage, `"${printable(word, 40)}" is not the number of an approval. ${usage}`);
}
