import { changesIn, type ManifestFacts } from "../../awareness/index.ts";
import { must, ok, type Result } from "../../base/index.ts";
import type { AddedBlock } from "../../engine/frames/index.ts";
import type { View } from "../../engine/index.ts";
import { lastSentTurn, type Moment, viewOf } from "../../engine/moment/index.ts";
import { safeText, shortened } from "../../notes/index.ts";
import { agentDefaults } from "../agent.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";
import { runStatusOf } from "../run-status.ts";
import type { RecentFrames } from "../space-log.ts";
import { wire } from "../wire.ts";
import { promptHead } from "./prompt-head.ts";
import { PromptPath } from "./prompt-path.ts";
import { type RenderedPrompt, renderPrompt } from "./render-prompt.ts";
import { contextOf, type RenderedContext } from "./rendered-context.ts";
import { defaultWindow } from "./visible-frames.ts";

/** A prompt and the moment it shows: later frames are not in it. */
export type RunPrompt = { readonly moment: Moment; readonly view: View; readonly prompt: RenderedPrompt };

/** Renders the prompt of an agent from the log at this moment. Nothing is appended. */
export async function renderRun(deps: RunDeps, run: AgentRun): Promise<Result<RunPrompt>> {
  const { log } = deps;
  const { cache, agent } = run;
  const restored = await cache.restore(log, agent.model);
  if (!restored.ok) return restored;
  const moment = log.moment();
  const prompt = await renderAt(deps, run, moment);
  return prompt.ok ? ok({ moment, view: viewOfRun(moment, run), prompt: prompt.value }) : prompt;
}

const streamCharsMax = 80;

async function renderAt(deps: RunDeps, run: AgentRun, moment: Moment): Promise<Result<RenderedPrompt>> {
  const { log, index, clock, nonceOf, streamName } = deps;
  const { agent, cache } = run;
  if (cache.lastPrompt?.seq === moment.seq) return ok(cache.lastPrompt.prompt);
  // Read before the first await: a turn may change the path while a preview is rendered.
  const { path } = cache;
  const view = viewOfRun(moment, run);
  const nonce = nonceOf(view);
  const systemTexts = await readSystemTexts(deps, moment, view);
  if (!systemTexts.ok) return systemTexts;
  const rendered = await renderPrompt({
    moment,
    view,
    path,
    head: promptHead(agent, systemTexts.value.sent, nonce),
    headNow: promptHead(agent, systemTexts.value.now, nonce),
    status: runStatusOf(moment, view, index),
    index,
    contents: log.contents,
    nonce,
    model: agent.model,
    window: agent.window ?? defaultWindow,
    budgetTokens: agent.budgetTokens ?? agentDefaults.budgetTokens,
    rate: cache.rate,
    facts: agent.memory === false ? null : factsOf(deps.recentFrames, run, { moment, view }),
    peripheralNotes: agent.peripheralNotes ?? 0,
    timeMs: clock.now(),
    opening: `[${nonce} this is ${shortened(safeText(streamName(view.stream), nonce), streamCharsMax)}]`,
  });
  if (rendered.ok) cache.lastPrompt = { seq: moment.seq, prompt: rendered.value };
  return rendered;
}

export function viewOfRun(moment: Moment, { cache }: Pick<AgentRun, "cache">): View {
  return must(viewOf(moment, cache.view), "a view that is remembered is open");
}

type SystemTexts = { readonly sent: readonly string[]; readonly now: readonly string[] };

/**
 * Reads the system texts there were when the path began, and all there are now: a continued path keeps its
 * head.
 */
async function readSystemTexts(
  { log, index }: RunDeps,
  moment: Moment,
  view: View,
): Promise<Result<SystemTexts>> {
  const startSeq = view.epochs.last?.seq ?? view.sent.get(0)?.seq ?? moment.seq;
  const blocks = index.blocksOfKind(moment, view.stream, "system");
  const read = await log.contents.load(blocks.map(({ content }) => content));
  if (!read.ok) return read;
  const textOf = ({ content }: AddedBlock): string => textIn(read.value(content));
  return ok({
    sent: blocks.filter(({ addedSeq }) => addedSeq <= startSeq).map(textOf),
    now: blocks.map(textOf),
  });
}

function textIn(bytes: Uint8Array): string {
  return wire.read.text(bytes) ?? "";
}

function factsOf(
  recentFrames: RecentFrames,
  { agent, cache }: AgentRun,
  { moment, view }: { readonly moment: Moment; readonly view: View },
): ManifestFacts {
  const window = agent.budgetTokens ?? agentDefaults.budgetTokens;
  const since = changesIn(recentFrames.since(lastSentTurn(moment, view)?.seq ?? 0), moment, view.id);
  const input = { window, exact: false, names: [], coldNames: [], since };
  const { primacy, middle, recency } = cache.tally.facts(moment, view, { ...input, used: 0 });
  const shown = primacy.tokens + middle.tokens + recency.tokens;
  const used = Math.min(window, Math.ceil(Math.max(cache.path?.tokens ?? 0, shown) * cache.rate));
  return cache.tally.facts(moment, view, { ...input, used });
}

/** The prompt as it would be sent, for a look at it beforehand. */
export function previewOf({ moment, prompt }: RunPrompt): RenderedContext {
  const path = prompt.kept?.copy() ?? new PromptPath();
  path.append(
    prompt.fresh,
    null,
    (block) => must(moment.state.blocks.get(block), "it is shown").block.anchor,
  );
  return contextOf(path);
}
