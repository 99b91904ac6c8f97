import { fail, must, ok, type Result } from "../../base/index.ts";
import type { View } from "../../engine/index.ts";
import { type Moment, streamOf, turnNow, viewOf } from "../../engine/moment/index.ts";
import {
  type AllWishes,
  followLog,
  type LedgerStream,
  nameBlocks,
  type PlanContext,
  plan,
  restartStream,
} from "../../ledger/index.ts";
import { safeText, shortened } from "../../notes/index.ts";
import type { WireRequest } from "../../protocols/index.ts";
import type { Agent } from "../agent.ts";
import type { AgentStream } from "../agent-stream.ts";
import { restoreStream } from "../restore-stream.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf } from "../run-status.ts";
import { wire } from "../runtime-protocol.ts";
import { type ClientInput, type ClientPrompt, messagesOf, promptCandidates } from "./client-prompt.ts";
import { shorterWishes } from "./fit-prompt.ts";
import { promptContext, promptTokensMax } from "./prompt-context.ts";
import { promptHead } from "./prompt-head.ts";
import { readWishes, withheldUnits } from "./read-wishes.ts";
import { bodyTokens } from "./rendered-context.ts";
import type { RunPrompt } from "./run-prompt.ts";
import { readSystemTexts } from "./system-texts.ts";
import { defaultWindow } from "./visible-frames.ts";

/** Prompts tell the time in minutes, so a planned one is true for as long. */
function isSameMinute(one: { readonly timeMs: number }, other: { readonly timeMs: number }): boolean {
  return Math.floor(one.timeMs / 60_000) === Math.floor(other.timeMs / 60_000);
}

/** Plans the prompt of an agent from the log at this moment. Nothing is appended. */
export async function planRun(deps: RunDeps, run: AgentRun): Promise<Result<RunPrompt>> {
  const restored = await restoreRun(deps, run);
  if (!restored.ok) return restored;
  const { agent, agentStream } = run;
  const moment = deps.log.moment();
  // Read before the first await: a turn may change the stream while a preview is planned.
  const { last, ledger, planned: known } = agentStream;
  const context = promptContext(deps, run);
  if (known?.moment.state === moment.state && isSameMinute(known, context)) return ok(known);
  const input = await clientInput(deps, run, { moment, last });
  if (!input.ok) return input;
  const wishes = await readWishes(deps, run, input.value);
  const planned = await planFitting({ agent, agentStream, ledger, wishes, context, input: input.value });
  if (planned.ok && agentStream.last === last) agentStream.planned = planned.value;
  return planned;
}

async function restoreRun({ log, index, nonceOf }: RunDeps, run: AgentRun): Promise<Result<void>> {
  const { agent, agentStream } = run;
  if (agentStream.isRestored) return ok(undefined);
  const moment = log.moment();
  const view = viewOfRun(moment, run);
  const nonce = nonceOf(view);
  const texts = await readSystemTexts({ log, index }, moment, view);
  if (!texts.ok) return texts;
  return await restoreStream(agentStream, {
    log,
    moment,
    view,
    nonce,
    head: promptHead(agent, texts.value.sent, nonce),
  });
}

const streamCharsMax = 80;

async function clientInput(
  deps: RunDeps,
  run: AgentRun,
  { moment, last }: Pick<ClientInput, "moment" | "last">,
): Promise<Result<ClientInput>> {
  const { log, index, nonceOf, streamName } = deps;
  const { agent } = run;
  const view = viewOfRun(moment, run);
  const nonce = nonceOf(view);
  const texts = await readSystemTexts(deps, moment, view);
  if (!texts.ok) return texts;
  return ok({
    moment,
    view,
    last,
    head: promptHead(agent, texts.value.sent, nonce),
    headNow: promptHead(agent, texts.value.now, nonce),
    status: runStatusOf(moment, view, index),
    index,
    contents: log.contents,
    nonce,
    model: agent.model,
    window: agent.window ?? defaultWindow,
    peripheralNotes: agent.peripheralNotes ?? 0,
    opening: `[${nonce} this is ${shortened(safeText(streamName(view.stream), nonce), streamCharsMax)}]`,
  });
}

export function viewOfRun(moment: Moment, { agentStream }: Pick<AgentRun, "agentStream">): View {
  return must(viewOf(moment, agentStream.view), "a view that is remembered is open");
}

type PromptPlanner = {
  readonly agent: Agent;
  readonly agentStream: AgentStream;
  readonly ledger: LedgerStream;
  readonly wishes: AllWishes;
  readonly context: PlanContext;
  readonly input: ClientInput;
};

/** The first prompt that fits. If none does, the last one is shortened, its largest blocks first. */
async function planFitting(planner: PromptPlanner): Promise<Result<RunPrompt>> {
  let last: RunPrompt | null = null;
  for await (const candidate of promptCandidates(planner.input)) {
    if (!candidate.ok) return candidate;
    last = planCandidate(planner, candidate.value);
    if (sizeOf(planner, last) <= promptTokensMax(planner.agent)) return ok(last);
  }
  let shortest = must(last, "there is at least one candidate");
  for (const levels of shorterWishes(planner.input, shortest.client)) {
    const wishes = { ...planner.wishes, levels: planner.wishes.levels.withAll(levels) };
    const context = { ...planner.context, arrival: "wished" } as const;
    shortest = planCandidate({ ...planner, wishes, context }, shortest.client);
    if (sizeOf(planner, shortest) <= promptTokensMax(planner.agent)) return ok(shortest);
  }
  const tokens = Math.ceil(sizeOf(planner, shortest));
  return fail("AP_RUNTIME_BUDGET", { tokens, budget: promptTokensMax(planner.agent) });
}

/** Tokens of a prompt by the provider's count, as far as it is known. */
function sizeOf({ agentStream }: PromptPlanner, { body }: RunPrompt): number {
  return bodyTokens(body) * agentStream.recorder.tokenRate;
}

/** Plans a prompt of the client. The same ledger, prompt and wishes always give the same plan. */
function planCandidate(planner: PromptPlanner, client: ClientPrompt): RunPrompt {
  const { agent, agentStream, input, context } = planner;
  const { moment, view } = input;
  const isContinued = client.repeatedCount > 0;
  const base = isContinued || view.sent.size === 0 ? planner.ledger : restartStream(planner.ledger);
  const { head, units, repeatedCount } = client;
  const marked = new Set([units.length - 1, repeatedCount - 1]);
  const written = wire.write.request({
    ...head,
    model: agent.model,
    // A budget is the limit of the prompt alone: no room of it is set aside for the answer.
    answerTokensMax: 0,
    messages: messagesOf(units, marked),
  });
  const request = must(wire.read.request(written, base.current?.request ?? null), "we wrote it");
  const turn = turnNow(moment, must(streamOf(moment, view.stream), "a view has a stream"));
  const ledger = nameBlocks(followLog(base, turn), keyedUnits(client, request));
  const wishes = { ...planner.wishes, withheld: withheldUnits(moment, view, { client, request }) };
  const result = plan(ledger, { wire: request, purpose: "turn", context }, wishes);
  const bytes = Buffer.concat(result.plan.pieces);
  const body = must(
    wire.read.request(bytes, isContinued ? agentStream.lastBody : null),
    "the ledger wrote it",
  );
  const wishesSeq = wishes.latest?.seq ?? 0;
  const { timeMs } = context;
  return { timeMs, moment, view, client, request, ledger: result.stream, plan: result.plan, body, wishesSeq };
}

/** The new units of a prompt that show a block, by their keys. */
function keyedUnits({ units, repeatedCount }: ClientPrompt, request: WireRequest) {
  const keys = request.messageKeys;
  return units.slice(repeatedCount).flatMap(({ block }, at) => {
    const key = keys[repeatedCount + at];
    if (block === null || key === undefined) return [];
    return [{ key, block: block.id, message: block.message, turn: block.turn }];
  });
}
