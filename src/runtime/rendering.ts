import { must, ok, type Result } from "../base/index.ts";
import { type AddedBlock, lastSent, type Moment, type View, viewOf } from "../engine/index.ts";
import { spokenIn } from "../protocols/index.ts";
import { changesIn, type ManifestFacts, safeText, shortened } from "../render/index.ts";
import { usual } from "./agent.ts";
import { askedOf } from "./asked.ts";
import { headOf } from "./head.ts";
import type { News } from "./news.ts";
import { Path } from "./path.ts";
import { type Rendering, render } from "./render.ts";
import { contextOf, type RenderedContext } from "./rendered-context.ts";
import type { Run, RunPlace } from "./run-place.ts";
import { usualWindow } from "./window.ts";

/** A rendering and the moment it shows: whatever came later is not in it. */
export type Rendered = { readonly moment: Moment; readonly view: View; readonly rendering: Rendering };

/** The prompt of an agent as the log has it at this moment. Nothing is appended. */
export async function renderRun(place: RunPlace, run: Run): Promise<Result<Rendered>> {
  const { log } = place;
  const { memory, agent } = run;
  const recalled = await memory.recall(log, agent.model);
  if (!recalled.ok) return recalled;
  const moment = log.moment();
  const rendering = await renderAt(place, run, moment);
  return rendering.ok ? ok({ moment, view: viewIn(moment, run), rendering: rendering.value }) : rendering;
}

const streamCharsMax = 80;

async function renderAt(place: RunPlace, run: Run, moment: Moment): Promise<Result<Rendering>> {
  const { log, standing, clock, nonceOf, nameOf } = place;
  const { agent, memory } = run;
  if (memory.last?.seq === moment.seq) return ok(memory.last.rendering);
  // As it is at this moment: whoever only looks may be overtaken by a turn.
  const { path } = memory;
  const view = viewIn(moment, run);
  const nonce = nonceOf(view);
  const told = await toldTexts(place, moment, view);
  if (!told.ok) return told;
  const rendered = await render({
    moment,
    view,
    path,
    head: headOf(agent, told.value.sent, nonce),
    headNow: headOf(agent, told.value.now, nonce),
    asked: askedOf(moment, view, standing),
    standing,
    contents: log.contents,
    nonce,
    model: agent.model,
    window: agent.window ?? usualWindow,
    budgetTokens: agent.budgetTokens ?? usual.budgetTokens,
    rate: memory.rate,
    facts: agent.memory === false ? null : factsOf(place.news, run, { moment, view }),
    peripheralNotes: agent.peripheralNotes ?? 0,
    timeMs: clock.now(),
    opening: `[${nonce} this is ${shortened(safeText(nameOf(view.stream), nonce), streamCharsMax)}]`,
  });
  if (rendered.ok) memory.last = { seq: moment.seq, rendering: rendered.value };
  return rendered;
}

export function viewIn(moment: Moment, { memory }: Pick<Run, "memory">): View {
  return must(viewOf(moment, memory.view), "a view that is remembered is open");
}

type Told = { readonly sent: readonly string[]; readonly now: readonly string[] };

/**
 * All system text there was when the path began, and all there is now: a path that goes on keeps its front.
 */
async function toldTexts({ log, standing }: RunPlace, moment: Moment, view: View): Promise<Result<Told>> {
  const began = view.epochs.last?.seq ?? view.sent.get(0)?.seq ?? moment.seq;
  const blocks = standing.of(moment, view.stream, "system");
  const read = await log.contents.reader(blocks.map(({ content }) => content));
  if (!read.ok) return read;
  const textOf = ({ content }: AddedBlock): string => textIn(read.value(content));
  return ok({
    sent: blocks.filter(({ addedSeq }) => addedSeq <= began).map(textOf),
    now: blocks.map(textOf),
  });
}

function textIn(bytes: Uint8Array): string {
  const spoken = spokenIn(bytes);
  return spoken?.type === "text" ? spoken.text : "";
}

type Looked = { readonly moment: Moment; readonly view: View };

function factsOf(news: News, { agent, memory }: Run, { moment, view }: Looked): ManifestFacts {
  const window = agent.budgetTokens ?? usual.budgetTokens;
  const since = changesIn(news.since(lastSent(moment, view)?.seq ?? 0), moment, view.id);
  const asked = { window, exact: false, names: [], coldNames: [], since };
  const { primacy, middle, recency } = memory.tally.facts(moment, view, { ...asked, used: 0 });
  const shown = primacy.tokens + middle.tokens + recency.tokens;
  const used = Math.min(window, Math.ceil(Math.max(memory.path?.tokens ?? 0, shown) * memory.rate));
  return memory.tally.facts(moment, view, { ...asked, used });
}

/** What a prompt would be, for whoever wants to look at it before it is sent. */
export function previewOf({ moment, rendering }: Rendered): RenderedContext {
  const path = rendering.kept?.copy() ?? new Path();
  path.append(
    rendering.fresh,
    null,
    (block) => must(moment.state.blocks.get(block), "it is shown").block.anchor,
  );
  return contextOf(path);
}
