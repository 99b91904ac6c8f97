// A desk that does as a test tells it, and remembers what it was told.
import type { Answering, Asking, Desk, Pieces, Sending, SentReport } from "../../src/session/index.ts";

export type FakeDesk = Desk & {
  readonly asked: Asking[];
  readonly taken: { readonly asking: Asking; readonly body: string }[];
  readonly refusals: string[];
  readonly ended: { readonly sending: Sending; readonly answer: Answering; readonly body: string | null }[];
};

/** Reads everything, and sends what `parts` say. */
export function fakeDesk(parts: Partial<Desk> & Pick<Desk, "take">): FakeDesk {
  const desk: Pick<FakeDesk, "asked" | "taken" | "refusals" | "ended"> = {
    asked: [],
    taken: [],
    refusals: [],
    ended: [],
  };
  return {
    ...desk,
    reads: (asking) => {
      desk.asked.push(asking);
      return parts.reads?.(asking) ?? true;
    },
    unread: () => null,
    room: (length) => Buffer.alloc(length),
    take: (asking, body) => {
      desk.taken.push({ asking, body: textOf(body) });
      return parts.take(asking, body);
    },
    refused: (sending, body) => {
      desk.refusals.push(Buffer.from(body).toString());
      return parts.refused?.(sending, body) ?? null;
    },
    goOn: (sending) => parts.goOn?.(sending) ?? Promise.resolve(null),
    answered: (sending, answer) => {
      // The bytes are only lent.
      desk.ended.push({ sending, answer, body: answer.body === null ? null : textOf(answer.body) });
      return parts.answered?.(sending, answer) ?? null;
    },
  };
}

export function textOf(pieces: Pieces): string {
  return Buffer.concat(pieces).toString();
}

/** In memory that two threads share, as a desk has it. */
export function shared(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

export function reportOf(text: string): SentReport {
  return {
    rendering: "managed",
    line: "l",
    talkName: null,
    briefed: 0,
    leaf: `leaf of ${text}`,
    fresh: [],
    copies: [],
    isTurn: true,
    body: [],
    length: 0,
    epoch: null,
  };
}

/** Sends these texts in place of the body. */
export function managed(asking: Asking, texts: readonly string[], more: Partial<Sending> = {}): Sending {
  const pieces = texts.map((text) => shared(Buffer.from(text)));
  return {
    request: asking.id,
    rendering: "managed",
    pieces,
    length: pieces.reduce((sum, { length }) => sum + length, 0),
    betas: [],
    mayRetry: false,
    isOwnTool: null,
    textNonce: null,
    sent: reportOf(texts.join("")),
    clientBody: shared(Buffer.from("the client's")),
    likeness: { line: null, before: null, shared: 0 },
    refusal: null,
    strips: null,
    ...more,
  };
}

/** Sends the body as it came. */
export function raw(asking: Asking, body: Pieces): Sending {
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const clientBody = shared(Buffer.concat(body));
  return { ...managed(asking, []), rendering: "raw", pieces: body, length, sent: null, clientBody };
}
