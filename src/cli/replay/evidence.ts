import { readFileSync } from "node:fs";
import { hashContent } from "../../base/index.ts";
import type { PricedRequestDetail, PricedRequests } from "../../control/index.ts";
import type { Frame } from "../../engine/frames/index.ts";
import { sessionPath } from "../api/api-path.ts";
import { exitCodes } from "../exit-codes.ts";
import { readAllFrames } from "../export/collect-session.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import { openProgress } from "../progress.ts";
import type { ReadyCall } from "../verb-call.ts";

/** A stored body: its hash on record, and its bytes. */
export type BodyEvidence = {
  readonly request: number;
  readonly side: string;
  readonly hash: string;
  /**
   * Null if they cannot be read. Masked, unpacked and purged bodies are not the stored bytes and prove
   * nothing.
   */
  readonly bytes: Uint8Array | "masked" | "unpacked" | "purged" | null;
};

/** A request that was relayed unchanged has the same body on both sides. */
export type RawEvidence = { readonly request: number; readonly isSame: boolean };

/** The input of a replay, from a running Aperture or from a file. */
export type Evidence = {
  readonly session: string;
  readonly frames: readonly Frame[];
  readonly maskedFrames: ReadonlySet<number>;
  readonly bodies: readonly BodyEvidence[];
  readonly raw: readonly RawEvidence[];
  readonly requests: number;
};

type ExportLine = Readonly<Record<string, unknown>>;
type BodyLine = {
  readonly request: number;
  readonly side: string;
  readonly text: string;
  readonly encoding: string;
  readonly masked?: true;
  readonly unpacked?: true;
};
type BodySummaryLine = { readonly side: string; readonly hash: string };

/** The name of each stored side in an export and in the routes of the API. */
const sideNames: Readonly<Record<string, string>> = {
  "client-request": "client",
  "upstream-request": "upstream",
  "upstream-response": "response",
};

/** Reads a file that `aperture export` wrote. */
export function evidenceFromFile(path: string): CliResult<Evidence> {
  let lines: readonly ExportLine[];
  try {
    const texts = readFileSync(path, "utf8").split("\n");
    lines = texts.filter((text) => text.trim() !== "").map((text) => JSON.parse(text) as ExportLine);
  } catch (error) {
    const why = error instanceof SyntaxError ? "it has a line that is not JSON" : "it cannot be read";
    return stop(exitCodes.failed, `${path} is not an export of a session: ${why}.`);
  }
  const [head] = lines;
  const session =
    head?.["type"] === "session" && head["v"] === 1 ? (head["session"] as { id: string }) : null;
  if (session === null) return stop(exitCodes.failed, `${path} is not an export of a session.`);
  const linesOf = (type: string) => lines.filter((line) => line["type"] === type);
  const frames = linesOf("frame").map((line) => line["frame"] as Frame); // their seals are checked
  const masked = linesOf("frame").flatMap((line) =>
    line["masked"] === true ? [(line["frame"] as Frame).seq] : [],
  );
  const texts = new Map(
    linesOf("body").map((line) => [`${line["request"]} ${line["side"]}`, line as BodyLine]),
  );
  const requests = linesOf("request").map((line) => line as unknown as RequestLine);
  return succeed({
    session: session.id,
    frames,
    maskedFrames: new Set(masked),
    bodies: requests.flatMap((line) => bodiesOf(line, texts)),
    raw: requests.flatMap((line) => rawOf(line, texts)),
    requests: requests.length,
  });
}

type RequestLine = {
  readonly request: { readonly id: number; readonly rendering: string };
  readonly bodies: readonly BodySummaryLine[];
};
type BodyTexts = ReadonlyMap<string, BodyLine>;

function bodiesOf({ request: { id }, bodies }: RequestLine, texts: BodyTexts): readonly BodyEvidence[] {
  return bodies.flatMap(({ side, hash }) => {
    const name = sideNames[side];
    if (name === undefined) return [];
    const line = texts.get(`${id} ${name}`);
    return [{ request: id, side, hash, bytes: line === undefined ? "purged" : bytesOf(line) }];
  });
}

function bytesOf(line: BodyLine): BodyEvidence["bytes"] {
  if (line.masked === true) return "masked";
  if (line.unpacked === true) return "unpacked";
  return Buffer.from(line.text, line.encoding === "base64" ? "base64" : "utf8");
}

function rawOf({ request: { id, rendering } }: RequestLine, texts: BodyTexts): readonly RawEvidence[] {
  if (rendering !== "raw") return [];
  const [client, upstream] = [texts.get(`${id} client`), texts.get(`${id} upstream`)];
  if (client === undefined || upstream === undefined) return [];
  return [{ request: id, isSame: hashContent(client.text) === hashContent(upstream.text) }];
}

const perRead = 1_000;

export async function evidenceFromSession(
  call: ReadyCall,
  { id, requests }: { readonly id: string; readonly requests: number },
): Promise<CliResult<Evidence>> {
  const frames = await readAllFrames(call, id);
  if (!frames.ok) return frames;
  const progress = openProgress(call, { what: "requests", total: requests });
  const [bodies, raw]: [BodyEvidence[], RawEvidence[]] = [[], []];
  for (let after: number | null = 0; after !== null; ) {
    const path: string = sessionPath(id, "/requests", { after, limit: perRead });
    const page = await call.api.json<PricedRequests>(path);
    if (!page.ok) return page;
    const { rows, next }: PricedRequests = page.value.value;
    for (const row of rows) {
      const found = await requestEvidence(call, sessionPath(id, `/requests/${row.id}`), row.id);
      if (!found.ok) return found;
      bodies.push(...found.value.bodies);
      if (row.rendering === "raw") raw.push({ request: row.id, isSame: found.value.isSame });
      progress.step();
    }
    after = rows.length === 0 ? null : next;
  }
  progress.end();
  return succeed({ session: id, frames: frames.value, maskedFrames: new Set(), bodies, raw, requests });
}

async function requestEvidence(call: ReadyCall, path: string, request: number) {
  const detail = await call.api.json<PricedRequestDetail>(path);
  if (!detail.ok) return detail;
  const { bodies, identical } = detail.value.value;
  const found: BodyEvidence[] = [];
  for (const { side, hash } of bodies) {
    const route = sideNames[side];
    if (route === undefined) continue;
    const reply = await call.api.bytes(`${path}/${route}`);
    // A purged body is missing on purpose.
    const isPurged = !reply.ok && reply.problem.exit === exitCodes.missing;
    found.push({ request, side, hash, bytes: reply.ok ? reply.value : isPurged ? "purged" : null });
  }
  return succeed({ bodies: found, isSame: identical.request });
}
