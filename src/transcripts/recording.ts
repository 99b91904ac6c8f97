/**
 * A recorded conversation: what the client kept and appended for each request, and what the model answered.
 * Messages and blocks have the shape of the Anthropic Messages API, whatever the client spoke.
 */
export type Recording = {
  readonly id: string;
  /** The client that talked; recordings of a larger set have more about it. */
  readonly agent?: { readonly name?: string };
  readonly system: string | null;
  readonly tools: readonly string[];
  readonly models: readonly string[];
  readonly turns: readonly RecordedTurn[];
  /** Those of the agents it started. */
  readonly streams?: readonly RecordedStream[];
};
export type RecordedStream = { readonly id?: string; readonly turns: readonly RecordedTurn[] };
export type RecordedTurn = {
  /** How many messages the client kept; absent means all of them. */
  readonly k?: number;
  readonly c: readonly WireMessage[];
  readonly a: readonly WireBlock[];
  readonly m?: {
    readonly model?: string;
    readonly t?: string;
    readonly usage?: WireUsage;
    /** What the client calls the answer. */
    readonly id?: string;
  };
};
/** Fresh input, cache read, cache write, output. */
export type WireUsage = {
  readonly in: number;
  readonly cr: number;
  readonly cw: number;
  readonly out: number;
};
export type WireMessage = { readonly role: string; readonly content: string | readonly WireBlock[] };
export type WireBlock = { readonly type: string; readonly [field: string]: unknown };

/** The main stream of a recording and those of the agents it started. */
export function streamsOf({ turns, streams }: Recording): readonly (readonly RecordedTurn[])[] {
  return [turns, ...(streams ?? []).map((stream) => stream.turns)];
}

export function agentOf({ agent }: Recording): string {
  return agent?.name ?? "unknown";
}

/** The one that answered first, also for requests that name none. */
export function modelOf({ turns, models }: Recording): string {
  return turns.find(({ m }) => m?.model !== undefined)?.m?.model ?? models[0] ?? "unknown";
}

/** When a turn was recorded; null where nobody wrote it down. */
export function timeOf({ m }: RecordedTurn): number | null {
  const time = m?.t === undefined ? Number.NaN : Date.parse(m.t);
  return Number.isNaN(time) ? null : time;
}
