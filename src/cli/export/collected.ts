import { gunzipSync, inflateSync } from "node:zlib";
import type { PricedDetail, PricedPage, PricedRow } from "../../control/index.ts";
import type { Frame, levels as known, Level } from "../../engine/index.ts";
import type { BlockDetail, BlockRow, FramesPage, SessionDetail, StateRow } from "../../session/index.ts";
import { sessionPath } from "../api-path.ts";
import type { ReadyCall } from "../call.ts";
import { type Outcome, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";

// Only the type is imported: the engine stays unloaded.
const levels: typeof known = ["original", "trimmed", "summarized", "minimal"];

/** A body as an export has it: as text, or as bytes in letters. Null: it is not there, or was purged. */
export type Text = {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
  /** It came compressed: its hash is of other bytes. */
  readonly unpacked?: true;
  readonly masked?: true;
};
export const bodySides = ["client", "upstream", "response"] as const;
export type BodySide = (typeof bodySides)[number];

export type ExportedRequest = {
  readonly row: PricedRow;
  readonly bodies: PricedDetail["bodies"];
  readonly texts: Readonly<Record<BodySide, Text | null>>;
};
export type ExportedRendition = { readonly level: Level; readonly content: Text | null };
export type ExportedBlock = {
  readonly row: BlockRow;
  readonly content: Text | null;
  /** What was made of it at other levels. */
  readonly renditions: readonly ExportedRendition[];
};

type StreamDetail = SessionDetail["streams"][number];

/** A stream other than the main one, with its blocks; those of streams before it stand there alone. */
export type ExportedStream = { readonly stream: StreamDetail; readonly blocks: readonly ExportedBlock[] };

/** Who is asked, and whether anybody wants to see how far it is. */
export type Reading = Pick<ReadyCall, "api" | "flags">;

/** Everything of one session, as the API gives it. */
export type Collected = {
  readonly session: SessionDetail["session"];
  readonly state: StateRow;
  readonly frames: readonly Frame[];
  /** Of the main stream. */
  readonly blocks: readonly ExportedBlock[];
  readonly others: readonly ExportedStream[];
  readonly requests: readonly ExportedRequest[];
  /** Frames in which something was masked: their seal is of other words. */
  readonly maskedFrames: ReadonlySet<number>;
};

export async function collect(call: Reading, detail: SessionDetail): Promise<Outcome<Collected>> {
  const { session } = detail;
  const { id } = session;
  const state = await call.api.json<StateRow>(sessionPath(id, "/state"));
  if (!state.ok) return state;
  const main = state.value.value;
  const apart = await othersOf(call, main, detail.streams);
  if (!apart.ok) return apart;
  const frames = await framesOf(call, id);
  if (!frames.ok) return frames;
  const rows = [main.blocks, ...apart.value.map((other) => other.rows)].flat();
  const total = rows.length + session.requests;
  const progress = openProgress(call, { what: "blocks and requests", total });
  const read = (of: readonly BlockRow[]) => blocksOf(call, { session: id, rows: of, step: progress.step });
  const blocks = await read(main.blocks);
  const others: ExportedStream[] = [];
  for (const { stream, rows: own } of apart.value) others.push({ stream, blocks: await read(own) });
  const requests = await requestsOf(call, id, progress.step);
  progress.end();
  if (!requests.ok) return requests;
  return succeed({
    session,
    state: main,
    frames: frames.value,
    blocks,
    others,
    requests: requests.value,
    maskedFrames: new Set(),
  });
}

type Apart = { readonly stream: StreamDetail; readonly rows: readonly BlockRow[] };

/** What every other stream has of its own: a fork holds what it was forked from too. */
async function othersOf(
  call: Reading,
  { session, seq, stream: main, blocks }: StateRow,
  streams: readonly StreamDetail[],
): Promise<Outcome<readonly Apart[]>> {
  const seen = new Set(blocks.map(({ n }) => n));
  const found: Apart[] = [];
  for (const stream of streams.filter(({ id }) => id !== main)) {
    const path = sessionPath(session, "/state", { stream: stream.id, at: seq });
    const state = await call.api.json<StateRow>(path);
    if (!state.ok) return state;
    const rows = state.value.value.blocks.filter(({ n }) => !seen.has(n));
    for (const { n } of rows) seen.add(n);
    found.push({ stream, rows });
  }
  return succeed(found);
}

type Rows = { readonly session: string; readonly rows: readonly BlockRow[]; readonly step: () => void };

async function blocksOf(call: Reading, { session, rows, step }: Rows): Promise<readonly ExportedBlock[]> {
  const blocks: ExportedBlock[] = [];
  for (const row of rows) {
    const at = (level: Level) => contentOf(call, sessionPath(session, `/blocks/${row.n}`), level);
    const made = levels.filter((level) => level !== "original" && row.sizes[level] !== undefined);
    const renditions: ExportedRendition[] = [];
    for (const level of made) renditions.push({ level, content: await at(level) });
    blocks.push({ row, content: await at("original"), renditions });
    step();
  }
  return blocks;
}

const perRead = 1_000;

export async function framesOf(call: Reading, session: string): Promise<Outcome<readonly Frame[]>> {
  const frames: Frame[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const path = sessionPath(session, "/frames", { after, limit: perRead });
    const page = await call.api.json<FramesPage>(path);
    if (!page.ok) return page;
    const { frames: more, next }: FramesPage = page.value.value;
    frames.push(...more);
    after = more.length === 0 ? null : next;
  }
  return succeed(frames);
}

/** A long content comes in pieces. */
async function contentOf(call: Reading, path: string, level: Level): Promise<Text | null> {
  let [text, from]: [string, number] = ["", 0];
  for (;;) {
    const reply = await call.api.json<BlockDetail>(`${path}?from=${from}&level=${level}`);
    const content = reply.ok ? reply.value.value.content : null;
    if (content === null) return null;
    if (content.encoding === "base64") return { text: content.text, encoding: "base64" };
    text += content.text;
    from = content.from + content.length;
    if (content.length === 0 || from >= content.total) return { text, encoding: "utf-8" };
  }
}

export async function requestsOf(
  call: Reading,
  session: string,
  step: () => void,
): Promise<Outcome<readonly ExportedRequest[]>> {
  const requests: ExportedRequest[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const path = sessionPath(session, "/requests", { after, limit: perRead });
    const page = await call.api.json<PricedPage>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedPage = page.value.value;
    for (const row of rows) {
      requests.push(await requestOf(call, session, row));
      step();
    }
    after = rows.length === 0 ? null : next;
  }
  return succeed(requests);
}

async function requestOf(call: Reading, session: string, row: PricedRow): Promise<ExportedRequest> {
  const path = sessionPath(session, `/requests/${row.id}`);
  const detail = await call.api.json<PricedDetail>(path);
  const read = async (side: BodySide): Promise<Text | null> => {
    const bytes = await call.api.bytes(`${path}/${side}`);
    return bytes.ok ? textOf(bytes.value) : null;
  };
  const texts = {
    client: await read("client"),
    upstream: await read("upstream"),
    response: await read("response"),
  };
  return { row, bodies: detail.ok ? detail.value.value.bodies : [], texts };
}

/** What came compressed is unpacked, so that it can be read and masked. */
export function textOf(bytes: Buffer): Text {
  const plain = unpacked(bytes);
  const mark = plain === bytes ? {} : { unpacked: true as const };
  const text = plain.toString("utf8");
  if (Buffer.from(text, "utf8").equals(plain)) return { text, encoding: "utf-8", ...mark };
  return { text: plain.toString("base64"), encoding: "base64", ...mark };
}

function unpacked(bytes: Buffer): Buffer {
  try {
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) return gunzipSync(bytes);
    return bytes[0] === 0x78 ? inflateSync(bytes) : bytes;
  } catch {
    return bytes;
  }
}
