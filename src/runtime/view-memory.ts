import { must, ok, type Result, type Seq, type StreamId, type ViewId } from "../base/index.ts";
import { asOf, type Moment, type Usage, type View, viewOf } from "../engine/index.ts";
import { FactsTally } from "../render/index.ts";
import { Doings, IdPool } from "../session/index.ts";
import { type Path, pathFrom, sentUnits } from "./path.ts";
import type { Rendering } from "./render.ts";
import type { SpaceLog } from "./space-log.ts";

/**
 * What makes the next turn of an agent in a stream cheap. All of it follows from the log, and is made anew
 * from it.
 */
export class ViewMemory {
  readonly view: ViewId;
  readonly stream: StreamId;
  readonly tally = new FactsTally();
  readonly doings = new Doings();
  ids: IdPool;
  path: Path | null = null;
  /** What the provider has counted for each token of ours. */
  rate = 1;
  /** The last rendering, for whoever asks twice. */
  last: { readonly seq: Seq; readonly rendering: Rendering } | null = null;
  #isRecalled = false;

  constructor(view: ViewId, stream: StreamId) {
    this.view = view;
    this.stream = stream;
    this.ids = new IdPool(stream);
  }

  /** Puts together from the log what is not known here yet: the last prompt, and what it came to. */
  async recall(log: SpaceLog, model: string): Promise<Result<void>> {
    if (this.#isRecalled) return ok(undefined);
    const moment = log.moment();
    const view = must(viewOf(moment, this.view), "a view that is remembered is open");
    const path = await sentPath(log, { moment, view, model });
    if (!path.ok) return path;
    const counted = lastCounted(view);
    const then = counted === null ? moment : asOf(moment, counted.sentSeq);
    const before = await sentPath(log, { moment: then, view, model });
    if (!before.ok) return before;
    // Somebody else has asked meanwhile, and may have gone on from here.
    if (this.#isRecalled) return ok(undefined);
    this.path = path.value;
    this.learn(counted?.usage ?? null, before.value);
    this.#isRecalled = true;
    return ok(undefined);
  }

  /** What the provider has counted for a prompt tells what it will count for the next. */
  learn(usage: Usage | null, path: Path | null): void {
    const counted = usage === null ? 0 : usage.input + usage.cacheRead + usage.cacheWrite;
    if (counted > 0 && path !== null) this.rate = Math.min(3, Math.max(0.5, counted / path.tokens));
  }
}

type Sent = { readonly moment: Moment; readonly view: View; readonly model: string };

/** The last prompt of a view at a moment; null: there was none. */
async function sentPath(log: SpaceLog, { moment, view, model }: Sent): Promise<Result<Path | null>> {
  const units = sentUnits(moment, view);
  const read = await log.contents.reader(units.map(({ bytes }) => bytes));
  if (!read.ok) return read;
  return ok(units.length === 0 ? null : pathFrom(moment, units, { read: read.value, model }));
}

/** The last answer that says what its prompt came to: one that was cut off does not. */
function lastCounted({ answers }: View): { readonly usage: Usage; readonly sentSeq: Seq } | null {
  for (let at = answers.size - 1; at >= 0; at -= 1) {
    const { usage, sentSeq } = must(answers.get(at), "answers have no gaps");
    if (usage !== null) return { usage, sentSeq };
  }
  return null;
}
