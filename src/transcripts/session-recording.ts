/**
 * A recorded session: for each request the messages that the client kept and appended, and the model's
 * answer. Messages and blocks have the form of the Anthropic Messages API, whatever API the client used.
 */
export type Recording = {
  readonly id: string;
  /** The client; recordings of a larger set have more fields. */
  readonly agent?: { readonly name?: string };
  readonly system: string | null;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly turns: readonly RecordedTurn[];
  /** The streams of the agents that the session started. */
  readonly streams?: readonly AgentRecording[];
};
export type AgentRecording = { readonly id?: string; readonly turns: readonly RecordedTurn[] };
export type RecordedTurn = {
  /** How many messages the client kept. Absent: all of them. */
  readonly k?: number;
  readonly c: readonly RecordedMessage[];
  readonly a: readonly RecordedBlock[];
  readonly m?: {
    readonly model?: string;
    readonly t?: string;
    readonly usage?: RecordedUsage;
    /** The client's id of the answer. */
    readonly id?: string;
  };
};
/** Tokens: fresh input, cache read, cache write, output. */
export type RecordedUsage = {
  readonly in: number;
  readonly cr: number;
  readonly cw: number;
  readonly out: number;
};
export type RecordedMessage = { readonly role: string; readonly content: string | readonly RecordedBlock[] };
export type RecordedBlock = { readonly type: string; readonly [field: string]: unknown };

/** The main stream of a recording and those of the agents it started. */
export function recordingStreams({ turns, streams }: Recording): readonly (readonly RecordedTurn[])[] {
  return [turns, ...(streams ?? []).map((stream) => stream.turns)];
}

export function recordedClient({ agent }: Recording): string {
  return agent?.name ?? "unknown";
}

/** The model that answered first; it also stands for requests that name none. */
export function modelOf({ turns, models }: Recording): string {
  return turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? models[0] ?? "unknown";
}

/** When a turn was recorded. Null if the recording does not say. */
export function turnTime({ m }: RecordedTurn): number | null {
  const time = m?.t === undefined ? Number.NaN : Date.parse(m.t);
  return Number.isNaN(time) ? null : time;
}
