import { hashContent, must, ok, type Result } from "../base/index.ts";
import type { AddedBlock, Frame } from "../engine/frames/index.ts";
import type { SentTurn, SentUnit, View } from "../engine/index.ts";
import { exchangeOf, lastSentTurn, lastTurnAnswer, type Moment, sentPath } from "../engine/moment/index.ts";
import type { UnitRecord } from "../exchange/index.ts";
import { addAnswer, nameBlocks, notePassed, renumber, restoreTurns } from "../ledger/index.ts";
import { type AgentStream, newLedger } from "./agent-stream.ts";
import type { ContentReader } from "./content-cache.ts";
import { answerUnits, keyedAnswer } from "./prompt/answer-units.ts";
import { framesIn, messagesOf } from "./prompt/client-prompt.ts";
import { headUnits, type PromptHead } from "./prompt/prompt-head.ts";
import { clientBytes, type PromptUnit, type UnitContext } from "./prompt/prompt-unit.ts";
import { shownAmbient } from "./prompt/surroundings.ts";
import { framesBack, isOwnBlock } from "./prompt/visible-frames.ts";
import { wire } from "./runtime-protocol.ts";
import type { SpaceLog } from "./space-log.ts";

/** Changes in older frames than these are not told to the agent. */
const unreportedMax = 200;

export type RestoreStreamInput = {
  readonly log: SpaceLog;
  readonly moment: Moment;
  readonly view: View;
  readonly nonce: string;
  /** Tools and system text as they were when the last prompt's path began. */
  readonly head: PromptHead;
};

/**
 * Restores the ledger and the last prompt of an agent from the log. A prompt that an older version recorded
 * cannot be continued: the next one starts again, with the same frames.
 */
export async function restoreStream(agent: AgentStream, input: RestoreStreamInput): Promise<Result<void>> {
  const { log, moment, view } = input;
  const sent = lastSentTurn(moment, view);
  const path = sentPath(moment, view).map((id) =>
    must(moment.state.units.get(id), "a path is made of sent units"),
  );
  const answer = answerBlocks(moment, view, sent);
  const blocks = path.flatMap(({ shows }) => shows.map(({ block }) => blockIn(moment, block)));
  const hashes = [...path.map(({ bytes }) => bytes), ...[...blocks, ...answer].map(({ content }) => content)];
  const read = await log.contents.load(new Set(hashes));
  if (!read.ok) return read;
  const frames = sent === null ? ok([]) : await framesSince(log, sent.seq, agent.openedSeq);
  if (!frames.ok) return frames;
  // A parallel call may have restored the agent meanwhile, and a turn may have changed it since.
  if (agent.isRestored) return ok(undefined);
  agent.isRestored = true;
  if (sent === null) return ok(undefined);
  const [sentFrame, ...later] = frames.value;
  for (const frame of later) agent.noteFrame(frame);
  agent.sentMs = sentFrame?.time ?? null;
  agent.model = exchangeOf(moment, sent.exchange)?.model ?? null;
  takeOverPath(agent, input, { sent, path, answer, read: read.value });
  return ok(undefined);
}

/** The frame of the last prompt, and the latest frames after it up to a seq. */
async function framesSince(log: SpaceLog, sentSeq: number, upTo: number): Promise<Result<readonly Frame[]>> {
  const sent = await log.framesAfter(sentSeq - 1, 1);
  const start = Math.max(sentSeq, upTo - unreportedMax);
  const later = sent.ok ? await log.framesAfter(start, unreportedMax) : sent;
  if (!sent.ok || !later.ok) return later;
  return ok([...sent.value, ...later.value.filter(({ seq }) => seq <= upTo)]);
}

/** The blocks of the answer to the last prompt. */
function answerBlocks(moment: Moment, view: View, sent: SentTurn | null): readonly AddedBlock[] {
  const answer = lastTurnAnswer(moment, view);
  if (sent === null || answer === null || answer.sentSeq !== sent.seq) return [];
  for (const { seq, blocks } of framesBack(moment, view)) {
    if (seq < answer.seq) break;
    if (seq === answer.seq)
      return blocks.filter((block) => isOwnBlock(block, view) && block.kind !== "tool-result");
  }
  return [];
}

type RecordedPath = {
  readonly sent: SentTurn;
  readonly path: readonly SentUnit[];
  readonly answer: readonly AddedBlock[];
  readonly read: ContentReader;
};

/** Takes over a recorded path, unless it does not begin with the head or is not one of the ledger. */
function takeOverPath(agent: AgentStream, input: RestoreStreamInput, recorded: RecordedPath): void {
  const { moment, view, nonce, head } = input;
  const { sent, path, answer, read } = recorded;
  const front = headUnits(head);
  const isHead = front.every((bytes, at) => path[at]?.bytes === hashContent(bytes));
  if (!isHead || path.length <= front.length) return;
  const context = { view, nonce, read };
  const restored = path.slice(front.length).map((unit) => restoreUnit(moment, unit, context));
  const records = [...path.slice(0, front.length).map(recordOf), ...restored.map(({ record }) => record)];
  const common = { ...head, model: agent.model ?? "", answerTokensMax: 0 };
  const bodyOf = (units: readonly Pick<PromptUnit, "role" | "bytes">[]): Buffer =>
    wire.write.request({ ...common, messages: messagesOf(units, new Set()) });
  const body = bodyOf(restored.map((unit) => unit.sent));
  const ledger = restoreTurns(newLedger(nonce), [{ body, path: records, answer: null, turn: sent.turn }]);
  if (ledger.lastLeaf === null) return;
  const keyed = records.flatMap(({ key, block }) => (block === undefined ? [] : [{ key, ...block }]));
  const numbered = notePassed(renumber(ledger, { session: null, blocks: keyed, lastTurn: sent.turn }));
  const units = restored.flatMap(({ client }) => client ?? []);
  const usage = answer.length === 0 ? null : (view.answers.last?.usage ?? null);
  const answered = answerUnits(answer.map(({ content }) => read(content)));
  const named = nameBlocks(numbered, keyedAnswer(answered, answer));
  const withAnswer = addAnswer(named, ledger.lastLeaf, { units: answered, usage, changesSeq: 0 }).stream;
  agent.ledger = { ...withAnswer, turnMs: agent.sentMs };
  agent.last = {
    head,
    units,
    repeatedCount: 0,
    frames: new Set(framesIn(units)),
    ambient: shownAmbient(new Map(), units, nonce),
    restart: null,
  };
  const prompt = {
    request: must(wire.read.request(bodyOf(units), null), "we wrote it"),
    units: path.map((unit) => ({ unit, bytes: read(unit.bytes) })),
    blocks: [...front.map(() => null), ...units.map(({ block }) => block?.id ?? null)],
    turn: sent.turn,
    exchange: sent.exchange,
    answer: answer.length === 0 ? null : { units: answered, blocks: answer.map(({ id }) => id), usage },
  };
  agent.recorder.noteRestored(prompt, moment.state);
}

type RestoredUnit = {
  readonly record: UnitRecord;
  /** The unit as it was sent. */
  readonly sent: Pick<PromptUnit, "role" | "bytes">;
  /** The unit as the agent's client wrote it. Null for a note of the ledger. */
  readonly client: PromptUnit | null;
};

function restoreUnit(moment: Moment, unit: SentUnit, context: UnitContext): RestoredUnit {
  const { origin, bytes: hash, shows, anchor } = unit;
  const role = origin === "model" ? "assistant" : "user";
  const bytes = context.read(hash);
  const record = recordOf(unit);
  const [shown] = shows;
  if (origin === "aperture") return { record, sent: { role, bytes }, client: null };
  if (shown === undefined)
    return { record, sent: { role, bytes }, client: { role, bytes, block: null, frame: null } };
  const block = blockIn(moment, shown.block);
  const own = clientBytes(context, block);
  const original = shown.as === "original" || own === null ? bytes : own;
  const isInFrame = block.kind !== "ambient" && own !== null && Buffer.compare(own, original) === 0;
  const client = { role, bytes: original, block, frame: isInFrame ? block.addedSeq : null } as const;
  const { id, message, turn } = block;
  const isReworded = Buffer.compare(original, bytes) !== 0;
  return {
    record: {
      ...record,
      key: anchor,
      block: { block: id, message, turn },
      ...(isReworded && { original: { content: hashContent(original), as: shown.as, bytes: original } }),
    },
    sent: { role, bytes },
    client,
  };
}

function recordOf({ origin, anchor, bytes, cleared }: SentUnit): UnitRecord {
  return { origin, key: anchor, bytesHash: bytes, ...(cleared === undefined ? {} : { cleared }) };
}

function blockIn({ state }: Moment, id: number): AddedBlock {
  return must(state.blocks.get(id), "it was shown").block;
}
