// A planner whose plans a test decides, and which notes how it was called.
import type {
  Pieces,
  PlannedRequest,
  Planner,
  RequestMeta,
  ResponseSummary,
  SentRequest,
} from "../../src/exchange/index.ts";

export type FakePlanner = Planner & {
  readonly offered: RequestMeta[];
  readonly planned: { readonly meta: RequestMeta; readonly body: string }[];
  readonly refusals: string[];
  readonly finished: {
    readonly planned: PlannedRequest;
    readonly answer: ResponseSummary;
  }[];
};

/** Needs every body, unless `parts` say otherwise. */
export function fakePlanner(parts: Partial<Planner> & Pick<Planner, "plan">): FakePlanner {
  const calls: Pick<FakePlanner, "offered" | "planned" | "refusals" | "finished"> = {
    offered: [],
    planned: [],
    refusals: [],
    finished: [],
  };
  return {
    ...calls,
    needsBody: (meta) => {
      calls.offered.push(meta);
      return parts.needsBody?.(meta) ?? true;
    },
    errorIfUnread: () => null,
    allocateBody: (length) => Buffer.alloc(length),
    plan: (meta, body) => {
      calls.planned.push({ meta, body: textOf(body) });
      return parts.plan(meta, body);
    },
    planRetry: (planned, body) => {
      calls.refusals.push(Buffer.from(body).toString());
      return parts.planRetry?.(planned, body) ?? null;
    },
    planRound: (planned) => parts.planRound?.(planned) ?? Promise.resolve(null),
    finish: (planned, answer) => {
      calls.finished.push({ planned, answer });
      return parts.finish?.(planned, answer) ?? null;
    },
  };
}

export function textOf(pieces: Pieces): string {
  return Buffer.concat(pieces).toString();
}

/** Copies bytes into memory that two threads share, as a real planner does. */
export function inSharedMemory(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

export function sentRequestOf(text: string): SentRequest {
  return {
    rendering: "managed",
    streamKey: "l",
    generatedName: null,
    wishesSeq: 0,
    leaf: `leaf of ${text}`,
    fresh: [],
    aliases: [],
    isTurn: true,
    body: [],
    length: 0,
    epoch: null,
  };
}

/** Sends these texts in place of the body. */
export function managedPlan(
  meta: RequestMeta,
  texts: readonly string[],
  more: Partial<PlannedRequest> = {},
): PlannedRequest {
  const pieces = texts.map((text) => inSharedMemory(Buffer.from(text)));
  return {
    requestId: meta.id,
    rendering: "managed",
    pieces,
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    betas: [],
    mayRetry: false,
    needsAnswer: true,
    isOwnTool: null,
    commandNonce: null,
    sent: sentRequestOf(texts.join("")),
    clientBody: inSharedMemory(Buffer.from("the client's")),
    overlap: { streamKey: null, baseRequest: null, sharedBytes: 0, sharedEndBytes: 0 },
    refusal: null,
    ownLineFilter: null,
    ...more,
  };
}

/** Sends the body as it came. */
export function rawPlan(meta: RequestMeta, body: Pieces): PlannedRequest {
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const clientBody = inSharedMemory(Buffer.concat(body));
  return { ...managedPlan(meta, []), rendering: "raw", pieces: body, length, sent: null, clientBody };
}
