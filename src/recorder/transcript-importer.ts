import { ok, type Result, type SessionId, sessionId, sha256Hex } from "../base/index.ts";
import type { Store } from "../store/index.ts";
import {
  answerBody,
  type GatheredSession,
  type RecordedAnswer,
  type RecordedMessage,
  type RecordedTurn,
  turnTime,
} from "../transcripts/index.ts";
import { SessionRecorder } from "./recorder.ts";
import { findSecrets } from "./secret-masking.ts";

export type TranscriptImporterDeps = {
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  /** Known credentials, in addition to those found by their form. */
  readonly secrets: readonly string[];
};

export type ImportResult = {
  readonly session: SessionId;
  readonly added: number;
  /** Number of requests that an earlier import had recorded. */
  readonly known: number;
  /** Number of texts that looked like credentials and were masked. */
  readonly masked: number;
  /** Number of requests that could not be recorded, and the problem of the first of them. */
  readonly lost: number;
  readonly problem: string | null;
};

/**
 * Imports sessions from transcripts into the log with the recorder that the proxy uses: blocks, streams and
 * usage, each frame at the time the client noted. Requests that are recorded already are skipped, so that a
 * transcript can be imported again when it has grown.
 */
export class TranscriptImporter {
  readonly #deps: TranscriptImporterDeps;
  readonly #recorder: SessionRecorder;
  #nowMs = 0;
  #session: SessionId = sessionId("none");
  #problem: string | null = null;

  constructor(deps: TranscriptImporterDeps) {
    this.#deps = deps;
    this.#recorder = new SessionRecorder({
      store: deps.store,
      clock: { now: () => this.#nowMs },
      newSession: () => this.#session,
      onEvent: (event) => {
        if (event.type === "notice") this.#problem ??= event.message;
      },
      onWishes: () => undefined,
      windowOf: deps.windowOf,
      policy: "off",
    });
  }

  async add(gathered: GatheredSession): Promise<Result<ImportResult>> {
    const { client, recording } = gathered;
    this.#session = sessionId(sha256Hex(`transcript ${client} ${recording.id}`).slice(0, 32));
    this.#problem = null;
    const recorded = await this.#recordedRequests(this.#session);
    if (!recorded.ok) return recorded;
    const secrets = findSecrets(JSON.stringify(recording));
    const context = { gathered, secrets: [...this.#deps.secrets, ...secrets] };
    const before = this.#recorder.counts().gaps;
    let [added, known] = [0, 0];
    for (const request of requestsOf(gathered)) {
      if (recorded.value.has(request.id)) known += 1;
      else {
        await this.#recordTurn(context, request);
        added += 1;
        // Frames on their way to the store take memory twice.
        if (added % flushEvery === 0) await this.#deps.store.flush();
      }
    }
    await this.#deps.store.flush();
    const lost = this.#recorder.counts().gaps - before;
    const masked = secrets.length;
    return ok({ session: this.#session, added: added - lost, known, masked, lost, problem: this.#problem });
  }

  async #recordedRequests(session: SessionId): Promise<Result<ReadonlySet<string>>> {
    const head = await this.#deps.store.head(session);
    if (!head.ok) return head;
    if (head.value === null) return ok(new Set());
    const log = await this.#recorder.cache.log(session);
    if (!log.ok) return log;
    return ok(new Set([...log.value.state().exchanges.entries()].map(([, { request }]) => request)));
  }

  async #recordTurn(
    context: ImportContext,
    { id, agent, turn, messages, timeMs }: TranscriptRequest,
  ): Promise<void> {
    const { client, recording } = context.gathered;
    this.#nowMs = timeMs;
    const model = turn.m?.model ?? recording.models[0];
    const { system } = recording;
    const common = { ...(model === undefined ? {} : { model }), ...(system === null ? {} : { system }) };
    const body = Buffer.from(JSON.stringify({ ...common, messages }));
    await this.#recorder.recordRequest({
      id,
      protocol: "anthropic",
      upstream: "transcript",
      method: "POST",
      target: `/transcripts/${client}`,
      headers: headersOf(context.gathered, agent),
      caller: { owner: "local", credential: "transcript", secrets: context.secrets },
      startedMs: timeMs,
      body,
      length: body.length,
      sent: null,
    });
    const answer = answerBody({ model: model ?? null, content: turn.a, ...usageOf(turn) });
    await this.#recorder.recordResponse({
      id,
      status: null,
      headers: { "content-type": "application/json" },
      body: answer,
      length: answer.length,
      answer: null,
      outcome: "complete",
      blockNumbers: null,
      problem: null,
      firstByteMs: null,
      totalMs: 0,
    });
  }
}

const flushEvery = 50;

type ImportContext = { readonly gathered: GatheredSession; readonly secrets: readonly string[] };

/** One request of a transcript. */
type TranscriptRequest = {
  readonly id: string;
  readonly agent: string | null;
  readonly turn: RecordedTurn;
  readonly messages: readonly RecordedMessage[];
  readonly timeMs: number;
};

/** The requests of all streams, in the order they were made. */
function requestsOf({ client, recording }: GatheredSession): readonly TranscriptRequest[] {
  const streams = [{ id: null, turns: recording.turns }, ...(recording.streams ?? [])];
  const requests = streams.flatMap(({ id, turns }, nth) => {
    const agent = nth === 0 ? null : printableName(id ?? `${nth}`);
    let messages: readonly RecordedMessage[] = [];
    let timeMs = 0;
    return turns.map((turn, at): TranscriptRequest => {
      const sent = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
      messages = [...sent, { role: "assistant", content: turn.a }];
      // Times in the log never go back, even if the client's clock was set back.
      timeMs = Math.max(timeMs, turnTime(turn) ?? timeMs);
      // The id comes from the client's id of the answer, else from its position.
      const name = turn.m?.id ?? `${recording.id} ${agent ?? ""} ${at}`;
      const requestId = `transcript-${sha256Hex(`${client} ${name}`).slice(0, 32)}`;
      return { id: requestId, agent, turn, messages: sent, timeMs };
    });
  });
  return requests.sort((a, b) => a.timeMs - b.timeMs);
}

/** Headers that identify the session, as those of a real client do. */
function headersOf(gathered: GatheredSession, agent: string | null): Readonly<Record<string, string>> {
  const { client, project, recording } = gathered;
  const folder = project?.split(/[/\\]/).findLast((name) => name !== "");
  return {
    "user-agent": `transcript-${client}`,
    "x-aperture-session": printableName(recording.id),
    ...(agent === null ? {} : { "x-claude-code-agent-id": agent }),
    ...(folder === undefined ? {} : { "x-aperture-project": printableName(folder) }),
  };
}

/** Removes characters that must not get into logs and terminals. */
function printableName(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "-").slice(0, 200) || "-";
}

function usageOf({ m }: RecordedTurn): Pick<RecordedAnswer, "usage"> {
  if (m?.usage === undefined) return {};
  const { in: fresh, cr: read, cw: written, out: output } = m.usage;
  return { usage: { fresh, read, written, output } };
}
