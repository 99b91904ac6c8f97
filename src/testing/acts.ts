import type { CoreAnswer } from "./core.ts";
import type { BodyFault, Fault } from "./faults.ts";
import { wireEvent } from "./sse.ts";

/** One step of answering over a socket. */
export type Act =
  | { readonly type: "head"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "hints" }
  | { readonly type: "write"; readonly bytes: Buffer }
  | { readonly type: "raw"; readonly bytes: Buffer }
  | { readonly type: "wait"; readonly ms: number }
  /** Ends the response as HTTP wants it. */
  | { readonly type: "end" }
  /** Closes the connection without ending the response. */
  | { readonly type: "close" }
  | { readonly type: "reset" }
  | { readonly type: "hang" };

/** How the bytes of a body are split into writes: per event, all at once, every n bytes, or at offsets. */
export type Split = "whole" | "events" | number | readonly number[];

export type Delivery = {
  readonly answer: CoreAnswer;
  readonly fault: Fault | null;
  readonly split: Split;
  readonly chunkMs: number;
};

/** The whole course of an answer as data, so that it can be checked without a socket. */
export function actsOf({ answer, fault, split, chunkMs }: Delivery): readonly Act[] {
  const chunks = answer.chunks.filter((bytes) => bytes.length > 0);
  const whole = chunks.reduce((sum, { length }) => sum + length, 0);
  const headers = { ...Object.fromEntries(answer.headers), ...lengthHeader(answer, whole) };
  const head: Act = { type: "head", status: answer.status, headers };
  const body = chunks.map((bytes): Act => ({ type: "write", bytes }));
  const errorEvent = answer.errorEvent ?? serverSentError;
  const acts = fault === null ? [head, ...body, end] : faultyActs({ head, body, fault, whole, errorEvent });
  return splitActs(chunkMs > 0 ? paced(acts, chunkMs) : acts, split);
}

const end: Act = { type: "end" };
const reset: Act = { type: "reset" };
const hang: Act = { type: "hang" };
const close: Act = { type: "close" };

function lengthHeader(answer: CoreAnswer, whole: number): Readonly<Record<string, string>> {
  return answer.streams ? {} : { "content-length": String(whole) };
}

type Head = Act & { readonly type: "head" };

type FaultQuestion = {
  readonly head: Head;
  readonly body: readonly Act[];
  readonly fault: Fault;
  /** Bytes of the undamaged body. */
  readonly whole: number;
  readonly errorEvent: NonNullable<CoreAnswer["errorEvent"]>;
};

function serverSentError(type: string, message: string): Buffer {
  return wireEvent({ type: "error", error: { type, message } });
}

function faultyActs(question: FaultQuestion): readonly Act[] {
  const { head, body, fault, whole } = question;
  switch (fault.type) {
    case "hang-before-head":
      return [hang];
    case "slow-head":
      return [{ type: "wait", ms: fault.ms }, head, ...body, end];
    case "reset-before-head":
      return [reset];
    case "not-http":
      return [{ type: "raw", bytes: Buffer.from(fault.text) }, close];
    case "early-hints":
      return [{ type: "hints" }, head, ...body, end];
    case "short-body": {
      const headers = { ...head.headers, "content-length": String(whole + fault.missing) };
      return [{ ...head, headers }, ...body, close];
    }
    case "headers":
      return [{ ...head, headers: { ...head.headers, ...fault.headers } }, ...body, end];
    case "redirect": {
      const headers = { location: fault.location, "content-length": "0" };
      return [{ type: "head", status: fault.status ?? 307, headers }, end];
    }
    case "status":
      return [{ ...head, headers: { ...head.headers, ...fault.headers } }, ...body, end];
    case "echo-credential":
      return [head, ...body, end];
    default:
      return [withoutLength(head), ...damagedBody(body, fault, question.errorEvent)];
  }
}

/** A body that does not come to its end must not have promised one. */
function withoutLength(head: Head): Act {
  const { "content-length": _, ...headers } = head.headers;
  return { ...head, headers };
}

function damagedBody(
  body: readonly Act[],
  fault: BodyFault,
  errorEvent: FaultQuestion["errorEvent"],
): readonly Act[] {
  switch (fault.type) {
    case "pause-after-events":
      return inserted(body, fault.events, { type: "wait", ms: fault.ms });
    case "slow-events":
      return [...paced(body, fault.ms), end];
    case "hang-after-events":
      return [...body.slice(0, fault.events), hang];
    case "reset-after-events":
      return [...body.slice(0, fault.events), reset];
    case "reset-after-bytes":
      return [write(joined(body).subarray(0, fault.bytes)), reset];
    case "end-after-events":
      return [...body.slice(0, fault.events), end];
    case "end-after-bytes":
      return [write(joined(body).subarray(0, fault.bytes)), end];
    case "close-after-events":
      return [...body.slice(0, fault.events), close];
    case "garbage-after-events":
      return inserted(body, fault.events, write(Buffer.from(fault.bytes)));
    case "missing-blank-line":
      return [
        ...body.map((act, at) => (at === fault.event - 1 ? write(joined([act]).subarray(0, -1)) : act)),
        end,
      ];
    case "huge-event":
      return inserted(
        body,
        fault.events,
        write(wireEvent({ type: "ping", padding: "x".repeat(fault.bytes) })),
      );
    case "error-event":
      return [...body.slice(0, fault.events), write(errorEvent(fault.errorType, fault.message)), end];
  }
}

function inserted(body: readonly Act[], at: number, act: Act): readonly Act[] {
  return [...body.slice(0, at), act, ...body.slice(at), end];
}

function write(bytes: Buffer): Act {
  return { type: "write", bytes };
}

function joined(acts: readonly Act[]): Buffer {
  return Buffer.concat(acts.flatMap((act) => (act.type === "write" ? [act.bytes] : [])));
}

function paced(acts: readonly Act[], ms: number): readonly Act[] {
  return acts.flatMap((act): readonly Act[] => (act.type === "write" ? [act, { type: "wait", ms }] : [act]));
}

function splitActs(acts: readonly Act[], split: Split): readonly Act[] {
  if (split === "events") return acts;
  const result: Act[] = [];
  let run: Buffer[] = [];
  let offset = 0;
  const flush = (): void => {
    const bytes = Buffer.concat(run);
    for (const piece of cutAt({ bytes, offset, split })) result.push(write(piece));
    offset += bytes.length;
    run = [];
  };
  for (const act of acts) {
    if (act.type === "write") run.push(act.bytes);
    else {
      flush();
      result.push(act);
    }
  }
  flush();
  return result;
}

type CutQuestion = {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly split: Exclude<Split, "events">;
};

/** Offsets count from the start of the body, also where a pause came in between. */
function cutAt({ bytes, offset, split }: CutQuestion): readonly Buffer[] {
  const limit = offset + bytes.length;
  const cuts = new Set<number>([offset, limit]);
  if (typeof split === "number") {
    const size = Math.max(1, Math.floor(split));
    for (let cut = Math.ceil(offset / size) * size; cut < limit; cut += size) cuts.add(cut);
  } else if (split !== "whole") for (const cut of split) if (cut > offset && cut < limit) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((cut, at) => bytes.subarray((sorted[at] ?? offset) - offset, cut - offset));
}
