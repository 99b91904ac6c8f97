import type { ModelPrices } from "../../policy/index.ts";
import { type ExactCounter, estimateTokens } from "../../tokens/index.ts";
import {
  modelOf,
  type RecordedTurn,
  type Recording,
  recordedClient,
  recordingStreams,
} from "../../transcripts/index.ts";
import type { Assumptions } from "./assumptions.ts";
import { clientForm } from "./client-form.ts";
import type { SessionCost } from "./cost-sums.ts";
import { type ClientRequest, type PricedPrompt, playStream, type StreamPlayInput } from "./stream-player.ts";
import { UnitNames } from "./unit-names.ts";

/** How sessions are played: under which model, through which upstream, with which policy. */
export type SessionPlayOptions = {
  /** The model the client names. Null for the recorded model of each request. */
  readonly model: string | null;
  readonly upstream: string;
  readonly policy: "auto" | "off";
  /** How results are shortened on arrival; without policy they are not. */
  readonly arrival: "lossless" | "trimmed";
  /** Which of our tools the model calls every few turns. Null for none. */
  readonly rounds: "mixed" | "reading" | null;
  /** Price of cache reads, for the planner and for the bill. Null for the model's own price. */
  readonly read: number | null;
};

/** The default settings of Aperture, with the recorded models. */
export const defaultSessionPlay: SessionPlayOptions = {
  model: null,
  upstream: "anthropic",
  policy: "auto",
  arrival: "lossless",
  rounds: null,
  read: null,
};

/** The figures depend on these besides the recording. */
export type SessionPlayDeps = {
  readonly assumptions: Assumptions;
  readonly count: ExactCounter;
  readonly pricesOf: (model: string | null) => ModelPrices;
  readonly windowOf: (model: string | null) => number;
};

/** A recording with its names, which are the same with all options and are found once. */
export type PlayableSession = { readonly recording: Recording; readonly unitNames: readonly UnitNames[] };

export function playableSession(recording: Recording): PlayableSession {
  return { recording, unitNames: recordingStreams(recording).map(() => new UnitNames()) };
}

/** The cost of a session, and each stream as the client sent it. */
export type PlayedSession = {
  readonly cost: SessionCost;
  readonly clients: readonly (readonly ClientRequest[])[];
};

/** Plays a recorded session through the real planner and the real log, and prices every prompt. */
export async function playSession(
  playable: PlayableSession,
  options: SessionPlayOptions,
  deps: SessionPlayDeps,
): Promise<PlayedSession> {
  const { recording, unitNames } = playable;
  const streams: (readonly PricedPrompt[])[] = [];
  const clients: (readonly ClientRequest[])[] = [];
  for (const [at, turns] of recordingStreams(recording).entries()) {
    const source = { recording, options, at, turns, unitNames: unitNames[at] ?? new UnitNames() };
    const stream = await playStream(streamInput(source, deps));
    streams.push(stream.priced);
    clients.push(stream.client);
  }
  const prices = pricesFor(options, deps)(options.model ?? modelOf(recording));
  return { cost: { name: recording.id, agent: recordedClient(recording), streams, prices }, clients };
}

function pricesFor({ read }: SessionPlayOptions, { pricesOf }: SessionPlayDeps): SessionPlayDeps["pricesOf"] {
  return read === null ? pricesOf : (model) => ({ ...pricesOf(model), read });
}

const unlimitedWindow = 1_000_000;

type StreamSource = {
  readonly recording: Recording;
  readonly options: SessionPlayOptions;
  readonly at: number;
  readonly turns: readonly RecordedTurn[];
  readonly unitNames: UnitNames;
};

function streamInput(
  { recording, options, at, turns, unitNames }: StreamSource,
  deps: SessionPlayDeps,
): StreamPlayInput {
  const { assumptions, count, windowOf } = deps;
  const pricesOf = pricesFor(options, deps);
  const shape = assumptions.clients[recordedClient(recording)] ?? assumptions.otherClient;
  const otherModel = modelOf(recording);
  const { model, policy } = options;
  return {
    ...options,
    form: clientForm(recording, shape),
    headers: headersOf(recording.id, at, shape.userAgent),
    turns,
    otherModel,
    prices: pricesOf(model ?? otherModel),
    pricesOf,
    // Large enough that nothing has to be dropped.
    windowOf: policy === "off" ? () => unlimitedWindow : windowOf,
    ownTokens: assumptions.ownTokens.value,
    excerptTokens: estimateTokens(assumptions.excerptChars.value, model ?? otherModel).count,
    count,
    unitNames,
  };
}

function headersOf(id: string, stream: number, userAgent: string): Readonly<Record<string, string>> {
  const headers = { "user-agent": userAgent };
  if (!userAgent.startsWith("claude-cli")) return headers;
  const named = { ...headers, "x-claude-code-session-id": id };
  return stream === 0 ? named : { ...named, "x-claude-code-agent-id": `${stream}` };
}
