import { wireEvent } from "./answer-events.ts";
import type { CoreAnswer } from "./strict-core.ts";
import type { BodyFault, UpstreamFault } from "./upstream-faults.ts";

/** One step of answering over a socket. */
export type DeliveryStep =
  | { readonly type: "head"; readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly type: "hints" }
  | { readonly type: "write"; readonly bytes: Buffer }
  | { readonly type: "raw"; readonly bytes: Buffer }
  | { readonly type: "wait"; readonly ms: number }
  /** Ends the response in the way HTTP prescribes. */
  | { readonly type: "end" }
  /** Closes the connection without ending the response. */
  | { readonly type: "close" }
  | { readonly type: "reset" }
  | { readonly type: "hang" };

/** The way a body is split into writes: per event, all at once, every n bytes, or at offsets. */
export type BodySplit = "whole" | "events" | number | readonly number[];

export type DeliveryInput = {
  readonly answer: CoreAnswer;
  readonly fault: UpstreamFault | null;
  readonly split: BodySplit;
  readonly chunkMs: number;
};

/** The steps that deliver an answer, as data, so that they can be checked without a socket. */
export function deliverySteps({ answer, fault, split, chunkMs }: DeliveryInput): readonly DeliveryStep[] {
  const chunks = answer.chunks.filter((bytes) => bytes.length > 0);
  const bodyBytes = chunks.reduce((sum, { length }) => sum + length, 0);
  const headers = { ...Object.fromEntries(answer.headers), ...lengthHeader(answer, bodyBytes) };
  const head: DeliveryStep = { type: "head", status: answer.status, headers };
  const body = chunks.map((bytes): DeliveryStep => ({ type: "write", bytes }));
  const errorEvent = answer.errorEvent ?? serverSentError;
  const steps =
    fault === null ? [head, ...body, end] : faultySteps({ head, body, fault, bodyBytes, errorEvent });
  return splitWrites(chunkMs > 0 ? withPauses(steps, chunkMs) : steps, split);
}

const end: DeliveryStep = { type: "end" };
const reset: DeliveryStep = { type: "reset" };
const hang: DeliveryStep = { type: "hang" };
const close: DeliveryStep = { type: "close" };

function lengthHeader(answer: CoreAnswer, bodyBytes: number): Readonly<Record<string, string>> {
  return answer.isStreamed ? {} : { "content-length": String(bodyBytes) };
}

type HeadStep = DeliveryStep & { readonly type: "head" };

type FaultInput = {
  readonly head: HeadStep;
  readonly body: readonly DeliveryStep[];
  readonly fault: UpstreamFault;
  /** Length of the undamaged body. */
  readonly bodyBytes: number;
  readonly errorEvent: NonNullable<CoreAnswer["errorEvent"]>;
};

function serverSentError(type: string, message: string): Buffer {
  return wireEvent({ type: "error", error: { type, message } });
}

function faultySteps(input: FaultInput): readonly DeliveryStep[] {
  const { head, body, fault, bodyBytes } = input;
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
      const headers = { ...head.headers, "content-length": String(bodyBytes + fault.missing) };
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
      return [withoutLength(head), ...damagedBody(body, fault, input.errorEvent)];
  }
}

/** A body that will not be sent to its end must not have a length header. */
function withoutLength(head: HeadStep): DeliveryStep {
  const { "content-length": _, ...headers } = head.headers;
  return { ...head, headers };
}

function damagedBody(
  body: readonly DeliveryStep[],
  fault: BodyFault,
  errorEvent: FaultInput["errorEvent"],
): readonly DeliveryStep[] {
  switch (fault.type) {
    case "pause-after-events":
      return insertStep(body, fault.events, { type: "wait", ms: fault.ms });
    case "slow-events":
      return [...withPauses(body, fault.ms), end];
    case "hang-after-events":
      return [...body.slice(0, fault.events), hang];
    case "reset-after-events":
      return [...body.slice(0, fault.events), reset];
    case "reset-after-bytes":
      return [write(joinWrites(body).subarray(0, fault.bytes)), reset];
    case "end-after-events":
      return [...body.slice(0, fault.events), end];
    case "end-after-bytes":
      return [write(joinWrites(body).subarray(0, fault.bytes)), end];
    case "close-after-events":
      return [...body.slice(0, fault.events), close];
    case "garbage-after-events":
      return insertStep(body, fault.events, write(Buffer.from(fault.bytes)));
    case "missing-blank-line":
      return [
        ...body.map((step, at) =>
          at === fault.event - 1 ? write(joinWrites([step]).subarray(0, -1)) : step,
        ),
        end,
      ];
    case "huge-event":
      return insertStep(
        body,
        fault.events,
        write(wireEvent({ type: "ping", padding: "x".repeat(fault.bytes) })),
      );
    case "error-event":
      return [...body.slice(0, fault.events), write(errorEvent(fault.errorType, fault.message)), end];
  }
}

function insertStep(body: readonly DeliveryStep[], at: number, step: DeliveryStep): readonly DeliveryStep[] {
  return [...body.slice(0, at), step, ...body.slice(at), end];
}

function write(bytes: Buffer): DeliveryStep {
  return { type: "write", bytes };
}

function joinWrites(steps: readonly DeliveryStep[]): Buffer {
  return Buffer.concat(steps.flatMap((step) => (step.type === "write" ? [step.bytes] : [])));
}

function withPauses(steps: readonly DeliveryStep[], ms: number): readonly DeliveryStep[] {
  return steps.flatMap((step): readonly DeliveryStep[] =>
    step.type === "write" ? [step, { type: "wait", ms }] : [step],
  );
}

function splitWrites(steps: readonly DeliveryStep[], split: BodySplit): readonly DeliveryStep[] {
  if (split === "events") return steps;
  const result: DeliveryStep[] = [];
  let run: Buffer[] = [];
  let offset = 0;
  const flush = (): void => {
    const bytes = Buffer.concat(run);
    for (const piece of cutAt({ bytes, offset, split })) result.push(write(piece));
    offset += bytes.length;
    run = [];
  };
  for (const step of steps) {
    if (step.type === "write") run.push(step.bytes);
    else {
      flush();
      result.push(step);
    }
  }
  flush();
  return result;
}

type WriteCutInput = {
  readonly bytes: Buffer;
  readonly offset: number;
  readonly split: Exclude<BodySplit, "events">;
};

/** Offsets count from the start of the body, also if a pause came in between. */
function cutAt({ bytes, offset, split }: WriteCutInput): readonly Buffer[] {
  const limit = offset + bytes.length;
  const cuts = new Set<number>([offset, limit]);
  if (typeof split === "number") {
    const size = Math.max(1, Math.floor(split));
    for (let cut = Math.ceil(offset / size) * size; cut < limit; cut += size) cuts.add(cut);
  } else if (split !== "whole") for (const cut of split) if (cut > offset && cut < limit) cuts.add(cut);
  const sorted = [...cuts].sort((a, b) => a - b);
  return sorted.slice(1).map((cut, at) => bytes.subarray((sorted[at] ?? offset) - offset, cut - offset));
}
