import type { ExportedBlock, SessionExport } from "./collect-session.ts";
import { bodySides } from "./collect-session.ts";

export type ExportHead = {
  readonly type: "session";
  readonly v: 1;
  readonly aperture: string;
  readonly masked: boolean;
  readonly session: SessionExport["session"];
};

/** The complete format: one JSON value per line. A value comes before the values that refer to it. */
export function* jsonLines(all: SessionExport, { version, isMasked }: ExportInfo): Generator<string> {
  const head: ExportHead = {
    type: "session",
    v: 1,
    aperture: version,
    masked: isMasked,
    session: all.session,
  };
  yield JSON.stringify(head);
  for (const frame of all.frames) {
    const mark = all.maskedFrames.has(frame.seq) ? { masked: true } : {};
    yield JSON.stringify({ type: "frame", frame, ...mark });
  }
  yield* blockLines(all.blocks);
  for (const { stream, blocks } of all.others) {
    yield JSON.stringify({ type: "stream", stream });
    yield* blockLines(blocks);
  }
  for (const { row, bodies, texts } of all.requests) {
    yield JSON.stringify({ type: "request", request: row, bodies });
    for (const side of bodySides) {
      const body = texts[side];
      if (body !== null) yield JSON.stringify({ type: "body", request: row.id, side, ...body });
    }
  }
}

function* blockLines(blocks: readonly ExportedBlock[]): Generator<string> {
  for (const { row, content, renditions } of blocks) {
    yield JSON.stringify({ type: "block", block: row, content });
    for (const rendition of renditions)
      yield JSON.stringify({ type: "rendition", block: row.n, ...rendition });
  }
}

export type ExportInfo = { readonly version: string; readonly isMasked: boolean };
