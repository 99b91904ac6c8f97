import { ok, type Result, type SessionId, sessionId, sha256Hex } from "../../base/index.ts";
import type { Store } from "../../store/index.ts";
import {
  type GatheredSession,
  type RecordedTurn,
  timeOf,
  type WireMessage,
} from "../../transcripts/index.ts";
import { SessionRecorder } from "../record/recorder.ts";
import type { Imported } from "./imported.ts";
import { secretsIn } from "./secret-looking.ts";

export type ImportPlace = {
  readonly store: Store;
  readonly windowOf: (model: string | null) => number | null;
  /** Credentials that are known by other ways than their looks. */
  readonly secrets: readonly string[];
};

/**
 * Writes sessions from transcripts into the log, through the recorder that also writes what passes the proxy:
 * blocks, streams, usage, each frame at the time the client noted. A request that is there is not written
 * again, so that a transcript can be imported as often as it grows.
 */
export class Importer {
  readonly #place: ImportPlace;
  readonly #recorder: SessionRecorder;
  #nowMs = 0;
  #next: SessionId = sessionId("none");
  #problem: string | null = null;

  constructor(place: ImportPlace) {
    this.#place = place;
    this.#recorder = new SessionRecorder({
      store: place.store,
      clock: { now: () => this.#nowMs },
      newSession: () => this.#next,
      tell: (event) => {
        if (event.type === "notice") this.#problem ??= event.message;
      },
      brief: () => undefined,
      windowOf: place.windowOf,
      policy: "off",
    });
  }

  async add(gathered: GatheredSession): Promise<Result<Imported>> {
    const { client, recording } = gathered;
    this.#next = sessionId(sha256Hex(`transcript ${client} ${recording.id}`).slice(0, 32));
    this.#problem = null;
    const met = await this.#known(this.#next);
    if (!met.ok) return met;
    const found = secretsIn(JSON.stringify(recording));
    const told = { gathered, secrets: [...this.#place.secrets, ...found] };
    const before = this.#recorder.counts().gaps;
    let [added, known] = [0, 0];
    for (const step of stepsOf(gathered)) {
      if (met.value.has(step.id)) known += 1;
      else {
        await this.#turn(told, step);
        added += 1;
        // What is on its way to the store is in memory twice.
        if (added % flushEvery === 0) await this.#place.store.flush();
      }
    }
    await this.#place.store.flush();
    const lost = this.#recorder.counts().gaps - before;
    const masked = found.length;
    return ok({ session: this.#next, added: added - lost, known, masked, lost, problem: this.#problem });
  }

  async #known(session: SessionId): Promise<Result<ReadonlySet<string>>> {
    const head = await this.#place.store.head(session);
    if (!head.ok) return head;
    if (head.value === null) return ok(new Set());
    const log = await this.#recorder.shelf.log(session);
    if (!log.ok) return log;
    return ok(new Set([...log.value.state().exchanges.entries()].map(([, { request }]) => request)));
  }

  async #turn(told: Told, { id, agent, turn, messages, timeMs }: Step): Promise<void> {
    const { client, recording } = told.gathered;
    this.#nowMs = timeMs;
    const model = turn.m?.model ?? recording.models[0];
    const { system } = recording;
    const named = { ...(model === undefined ? {} : { model }), ...(system === null ? {} : { system }) };
    const body = Buffer.from(JSON.stringify({ ...named, messages }));
    await this.#recorder.requested({
      id,
      protocol: "anthropic",
      upstream: "transcript",
      method: "POST",
      target: `/transcripts/${client}`,
      headers: headersOf(told.gathered, agent),
      caller: { owner: "local", credential: "transcript", secrets: told.secrets },
      startedMs: timeMs,
      body,
      length: body.length,
      sent: null,
    });
    const answer = Buffer.from(JSON.stringify({ ...named, content: turn.a, ...usageOf(turn) }));
    await this.#recorder.answered({
      id,
      status: null,
      headers: { "content-type": "application/json" },
      body: answer,
      length: answer.length,
      outcome: "complete",
      numbered: null,
      problem: null,
      firstByteMs: null,
      totalMs: 0,
    });
  }
}

const flushEvery = 50;

type Told = { readonly gathered: GatheredSession; readonly secrets: readonly string[] };

/** One request of one of the streams. */
type Step = {
  readonly id: string;
  readonly agent: string | null;
  readonly turn: RecordedTurn;
  readonly messages: readonly WireMessage[];
  readonly timeMs: number;
};

/** In the order in which they were made, whichever stream they are of. */
function stepsOf({ client, recording }: GatheredSession): readonly Step[] {
  const streams = [{ id: null, turns: recording.turns }, ...(recording.streams ?? [])];
  const steps = streams.flatMap(({ id, turns }, nth) => {
    const agent = nth === 0 ? null : nameOf(id ?? `${nth}`);
    let messages: readonly WireMessage[] = [];
    let timeMs = 0;
    return turns.map((turn, at): Step => {
      const sent = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
      messages = [...sent, { role: "assistant", content: turn.a }];
      // A clock that was set back is no reason for a log that goes back.
      timeMs = Math.max(timeMs, timeOf(turn) ?? timeMs);
      // By what the client calls the answer; where it calls it nothing, by its place.
      const name = turn.m?.id ?? `${recording.id} ${agent ?? ""} ${at}`;
      const request = `transcript-${sha256Hex(`${client} ${name}`).slice(0, 32)}`;
      return { id: request, agent, turn, messages: sent, timeMs };
    });
  });
  return steps.sort((a, b) => a.timeMs - b.timeMs);
}

/** The session is known by these, as that of a client on the wire is. */
function headersOf(gathered: GatheredSession, agent: string | null): Readonly<Record<string, string>> {
  const { client, project, recording } = gathered;
  const folder = project?.split(/[/\\]/).findLast((name) => name !== "");
  return {
    "user-agent": `transcript-${client}`,
    "x-aperture-session": nameOf(recording.id),
    ...(agent === null ? {} : { "x-claude-code-agent-id": agent }),
    ...(folder === undefined ? {} : { "x-aperture-project": nameOf(folder) }),
  };
}

/** A name ends up in a log and on a screen. */
function nameOf(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, "-").slice(0, 200) || "-";
}

function usageOf({ m }: RecordedTurn): object {
  if (m?.usage === undefined) return {};
  const { in: input, cr, cw, out } = m.usage;
  return {
    usage: {
      input_tokens: input,
      cache_read_input_tokens: cr,
      cache_creation_input_tokens: cw,
      output_tokens: out,
    },
  };
}
