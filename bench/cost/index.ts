import { pricesOf, windowOf } from "../../src/config/index.ts";
import { type Counter, loadO200k } from "../../src/tokens/index.ts";
import {
  type Recording,
  readRecording,
  recordingNames,
  recordingsFolder,
} from "../../test/support/recordings.ts";
import { streamsOf } from "../../test/tokens/replay.ts";
import { clientForm } from "../replay/client.ts";
import type { BenchOptions, Cell } from "../report.ts";
import { type Assumptions, readAssumptions } from "./assumptions.ts";
import { managedCells } from "./cells.ts";
import { type Priced, playStream } from "./stream.ts";
import type { SessionCost } from "./sums.ts";

/** What a session costs when it is managed, against what it costs as the client sends it. */
export async function* costCells({ data, quick }: BenchOptions): AsyncGenerator<Cell> {
  const folder = data ?? recordingsFolder;
  const assumptions = readAssumptions();
  const count = await loadO200k();
  for (const column of columns) {
    const sessions: SessionCost[] = [];
    for (const name of recordingNames(folder)) {
      const recording = readRecording(name, folder);
      if (quick && recording.turns.length > 60) continue;
      sessions.push(await sessionCost(recording, { column, assumptions, count }));
    }
    const isJudged = !quick && sessions.length >= judgedMin;
    const readPrices = assumptions.readPrices.value;
    yield* managedCells({ column: column.name, sessions, readPrices, isJudged });
  }
}

const judgedMin = 10;

/** Under which name, and through which upstream, the sessions are played. */
type Column = { readonly name: string; readonly model: string | null; readonly upstream: string };

const columns: readonly Column[] = [
  { name: "recorded", model: null, upstream: "anthropic" },
  { name: "volatile", model: "claude-opus-5-5", upstream: "anthropic" },
  { name: "permanent", model: "claude-opus-5-5", upstream: "elsewhere" },
];

type Playing = { readonly column: Column; readonly assumptions: Assumptions; readonly count: Counter };

async function sessionCost(recording: Recording, playing: Playing): Promise<SessionCost> {
  const { column, assumptions, count } = playing;
  const { agent } = recording as Recording & { readonly agent: { readonly name: string } };
  const shape = assumptions.clients[agent.name] ?? assumptions.otherClient;
  const form = clientForm(recording, shape);
  const otherModel = recording.models[0] ?? "unknown";
  const prices = pricesOf(column.model ?? otherModel);
  const streams: (readonly Priced[])[] = [];
  for (const [at, turns] of streamsOf(recording).entries()) {
    const headers = headersOf(recording.id, at, shape.userAgent);
    const { model, upstream } = column;
    const { value: ownTokens } = assumptions.ownTokens;
    streams.push(
      await playStream({
        form,
        turns,
        headers,
        upstream,
        model,
        otherModel,
        prices,
        windowOf,
        ownTokens,
        count,
      }),
    );
  }
  return { name: recording.id, agent: agent.name, streams, prices };
}

function headersOf(id: string, stream: number, userAgent: string): Readonly<Record<string, string>> {
  const headers = { "user-agent": userAgent };
  if (!userAgent.startsWith("claude-cli")) return headers;
  const named = { ...headers, "x-claude-code-session-id": id };
  return stream === 0 ? named : { ...named, "x-claude-code-agent-id": `${stream}` };
}
