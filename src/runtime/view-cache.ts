import { FactsTally } from "../awareness/index.ts";
import { must, ok, type Result, type Seq, type StreamId, type ViewId } from "../base/index.ts";
import type { Usage } from "../engine/frames/index.ts";
import type { View } from "../engine/index.ts";
import { asOf, type Moment, viewOf } from "../engine/moment/index.ts";
import { IdPool } from "../log/index.ts";
import { StreamActions } from "../recorder/index.ts";
import { type PromptPath, restorePromptPath, sentUnits } from "./prompt/prompt-path.ts";
import type { RenderedPrompt } from "./prompt/render-prompt.ts";
import type { SpaceLog } from "./space-log.ts";

/** Makes the next turn of an agent in a stream cheap. All of it can be restored from the log. */
export class ViewCache {
  readonly view: ViewId;
  readonly stream: StreamId;
  readonly tally = new FactsTally();
  readonly actions = new StreamActions();
  ids: IdPool;
  path: PromptPath | null = null;
  /** Tokens that the provider counted for each token of our own count. */
  rate = 1;
  /** The last rendered prompt, for a second look at the same moment. */
  lastPrompt: { readonly seq: Seq; readonly prompt: RenderedPrompt } | null = null;
  #isRestored = false;

  constructor(view: ViewId, stream: StreamId) {
    this.view = view;
    this.stream = stream;
    this.ids = new IdPool(stream);
  }

  /** Restores the last prompt and the token rate from the log, once. */
  async restore(log: SpaceLog, model: string): Promise<Result<void>> {
    if (this.#isRestored) return ok(undefined);
    const moment = log.moment();
    const view = must(viewOf(moment, this.view), "a view that is remembered is open");
    const path = await sentPath(log, { moment, view, model });
    if (!path.ok) return path;
    const counted = lastCounted(view);
    const then = counted === null ? moment : asOf(moment, counted.sentSeq);
    const before = await sentPath(log, { moment: then, view, model });
    if (!before.ok) return before;
    // A parallel call may have restored the cache meanwhile, and a turn may have changed it since.
    if (this.#isRestored) return ok(undefined);
    this.path = path.value;
    this.learnRate(counted?.usage ?? null, before.value);
    this.#isRestored = true;
    return ok(undefined);
  }

  /** Learns from the provider's count of a prompt what it will count for the next one. */
  learnRate(usage: Usage | null, path: PromptPath | null): void {
    const counted = usage === null ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
    if (counted > 0 && path !== null) this.rate = Math.min(3, Math.max(0.5, counted / path.tokens));
  }
}

/** The last prompt of a view at a moment. Null if none was sent. */
async function sentPath(
  log: SpaceLog,
  { moment, view, model }: { readonly moment: Moment; readonly view: View; readonly model: string },
): Promise<Result<PromptPath | null>> {
  const units = sentUnits(moment, view);
  const read = await log.contents.load(units.map(({ bytes }) => bytes));
  if (!read.ok) return read;
  return ok(units.length === 0 ? null : restorePromptPath(moment, units, { read: read.value, model }));
}

/** The last answer whose prompt the provider counted; an answer that was cut off has no count. */
function lastCounted({ answers }: View): { readonly usage: Usage; readonly sentSeq: Seq } | null {
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { usage, sentSeq } = must(answers.get(at), "answers have no gaps");
    if (usage !== null) return { usage, sentSeq };
  }
  return null;
}
