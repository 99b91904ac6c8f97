import { readFileSync } from "node:fs";
import { hashContent } from "../../base/index.ts";
import type { Frame } from "../../engine/index.ts";
import { exitCodes } from "../exit-codes.ts";
import { type CliResult, stop, succeed } from "../outcome.ts";
import type { BodyEvidence, Evidence, RawEvidence } from "./evidence.ts";

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

/** The name of each stored side in an export. */
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
