import { gunzipSync, inflateSync } from "node:zlib";
import type { PricedRequest, PricedRequestDetail, PricedRequests } from "../../control/index.ts";
import type { Frame, levels as known, Level } from "../../engine/frames/index.ts";
import type {
  BlockDetail,
  BlockRow,
  FramesPage,
  SessionDetail,
  StateRow,
} from "../../queries/answers/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { type CliResult, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import type { ReadyCall } from "../verb-call.ts";

// Only the type is imported, so that the engine is not loaded.
const levels: typeof known = ["original", "trimmed", "summarized", "minimal"];

/** Text, or bytes in base64. Null in its place: not stored, or purged. */
export type ExportText = {
  readonly text: string;
  readonly encoding: "utf-8" | "base64";
  /** It came compressed, so the stored hash is of other bytes. */
  readonly unpacked?: true;
  readonly masked?: true;
};
export const bodySides = ["client", "upstream", "response"] as const;
export type ExportedSide = (typeof bodySides)[number];

export type ExportedRequest = {
  readonly row: PricedRequest;
  readonly bodies: PricedRequestDetail["bodies"];
  readonly texts: Readonly<Record<ExportedSide, ExportText | null>>;
};
export type ExportedRendition = { readonly level: Level; readonly content: ExportText | null };
export type ExportedBlock = {
  readonly row: BlockRow;
  readonly content: ExportText | null;
  /** Its texts at other levels. */
  readonly renditions: readonly ExportedRendition[];
};

type ExportedStreamDetail = SessionDetail["streams"][number];

/** A stream other than the main one, with the blocks that no earlier stream holds. */
export type ExportedStream = {
  readonly stream: ExportedStreamDetail;
  readonly blocks: readonly ExportedBlock[];
};

/** The API, and the flags that decide whether progress is shown. */
export type ExportDeps = Pick<ReadyCall, "api" | "flags">;

/** Everything about one session, as the API returns it. */
export type SessionExport = {
  readonly session: SessionDetail["session"];
  readonly state: StateRow;
  readonly frames: readonly Frame[];
  /** The blocks of the main stream. */
  readonly blocks: readonly ExportedBlock[];
  readonly others: readonly ExportedStream[];
  readonly requests: readonly ExportedRequest[];
  /** Frames in which something is masked: their seals are of other texts. */
  readonly maskedFrames: ReadonlySet<number>;
};

export async function collectSession(
  call: ExportDeps,
  detail: SessionDetail,
): Promise<CliResult<SessionExport>> {
  const { session } = detail;
  const { id } = session;
  const state = await call.api.json<StateRow>(sessionPath(id, "/state"));
  if (!state.ok) return state;
  const main = state.value.value;
  const rest = await otherStreams(call, main, detail.streams);
  if (!rest.ok) return rest;
  const frames = await readAllFrames(call, id);
  if (!frames.ok) return frames;
  const rows = [main.blocks, ...rest.value.map((other) => other.rows)].flat();
  const total = rows.length + session.requests;
  const progress = openProgress(call, { what: "blocks and requests", total });
  const read = (blockRows: readonly BlockRow[]) =>
    readBlockContents(call, { session: id, rows: blockRows, step: progress.step });
  const blocks = await read(main.blocks);
  const others: ExportedStream[] = [];
  for (const { stream, rows: own } of rest.value) others.push({ stream, blocks: await read(own) });
  const requests = await readRequests(call, id, progress.step);
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

type OtherStream = { readonly stream: ExportedStreamDetail; readonly rows: readonly BlockRow[] };

/** The blocks that only this stream has. A fork also holds the blocks of the stream it forked from. */
async function otherStreams(
  call: ExportDeps,
  { session, seq, stream: main, blocks }: StateRow,
  streams: readonly ExportedStreamDetail[],
): Promise<CliResult<readonly OtherStream[]>> {
  const seen = new Set(blocks.map(({ n }) => n));
  const found: OtherStream[] = [];
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

type BlockRowsInput = {
  readonly session: string;
  readonly rows: readonly BlockRow[];
  readonly step: () => void;
};

async function readBlockContents(
  call: ExportDeps,
  { session, rows, step }: BlockRowsInput,
): Promise<readonly ExportedBlock[]> {
  const blocks: ExportedBlock[] = [];
  for (const row of rows) {
    const contentAt = (level: Level) => readContent(call, sessionPath(session, `/blocks/${row.n}`), level);
    const lowered = levels.filter((level) => level !== "original" && row.sizes[level] !== undefined);
    const renditions: ExportedRendition[] = [];
    for (const level of lowered) renditions.push({ level, content: await contentAt(level) });
    blocks.push({ row, content: await contentAt("original"), renditions });
    step();
  }
  return blocks;
}

const perRead = 1_000;

export async function readAllFrames(call: ExportDeps, session: string): Promise<CliResult<readonly Frame[]>> {
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

/** The API returns long content in pieces. */
async function readContent(call: ExportDeps, path: string, level: Level): Promise<ExportText | null> {
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

async function readRequests(
  call: ExportDeps,
  session: string,
  step: () => void,
): Promise<CliResult<readonly ExportedRequest[]>> {
  const requests: ExportedRequest[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const path = sessionPath(session, "/requests", { after, limit: perRead });
    const page = await call.api.json<PricedRequests>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedRequests = page.value.value;
    for (const row of rows) {
      requests.push(await readRequest(call, session, row));
      step();
    }
    after = rows.length === 0 ? null : next;
  }
  return succeed(requests);
}

async function readRequest(call: ExportDeps, session: string, row: PricedRequest): Promise<ExportedRequest> {
  const path = sessionPath(session, `/requests/${row.id}`);
  const detail = await call.api.json<PricedRequestDetail>(path);
  const read = async (side: ExportedSide): Promise<ExportText | null> => {
    const bytes = await call.api.bytes(`${path}/${side}`);
    return bytes.ok ? bodyText(bytes.value) : null;
  };
  const texts = {
    client: await read("client"),
    upstream: await read("upstream"),
    response: await read("response"),
  };
  return { row, bodies: detail.ok ? detail.value.value.bodies : [], texts };
}

/** Compressed bodies are unpacked, so that they can be read and masked. */
function bodyText(bytes: Buffer): ExportText {
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
