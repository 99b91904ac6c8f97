import { readFileSync } from "node:fs";
import { hashContent } from "../../base/index.ts";
import type { Frame } from "../../engine/index.ts";
import { type Outcome, stop, succeed } from "../outcome.ts";
import { exitCodes } from "../usage.ts";
import type { BodyEvidence, Evidence, RawEvidence } from "./evidence.ts";

type Line = Readonly<Record<string, unknown>>;
type BodyLine = {
  readonly request: number;
  readonly side: string;
  readonly text: string;
  readonly encoding: string;
  readonly masked?: true;
  readonly unpacked?: true;
};
type Summary = { readonly side: string; readonly hash: string };

/** How an export calls each stored side. */
const names: Readonly<Record<string, string>> = {
  "client-request": "client",
  "upstream-request": "upstream",
  "upstream-response": "response",
};

/** Reads what `aperture export` wrote. */
export function evidenceOfFile(path: string): Outcome<Evidence> {
  let lines: readonly Line[];
  try {
    const texts = readFileSync(path, "utf8").split("\n");
    lines = texts.filter((text) => text.trim() !== "").map((text) => JSON.parse(text) as Line);
  } catch (error) {
    const why = error instanceof SyntaxError ? "a line of it is not JSON" : "it cannot be read";
    return stop(exitCodes.failed, `${path} is no export of a session: ${why}.`);
  }
  const [head] = lines;
  const session =
    head?.["type"] === "session" && head["v"] === 1 ? (head["session"] as { id: string }) : null;
  if (session === null) return stop(exitCodes.failed, `${path} is no export of a session.`);
  const of = (type: string) => lines.filter((line) => line["type"] === type);
  const frames = of("frame").map((line) => line["frame"] as Frame); // judged by their seals
  const masked = of("frame").flatMap((line) =>
    line["masked"] === true ? [(line["frame"] as Frame).seq] : [],
  );
  const texts = new Map(of("body").map((line) => [`${line["request"]} ${line["side"]}`, line as BodyLine]));
  const requests = of("request").map((line) => line as unknown as RequestLine);
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
  readonly bodies: readonly Summary[];
};
type Texts = ReadonlyMap<string, BodyLine>;

function bodiesOf({ request: { id }, bodies }: RequestLine, texts: Texts): readonly BodyEvidence[] {
  return bodies.flatMap(({ side, hash }) => {
    const name = names[side];
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

function rawOf({ request: { id, rendering } }: RequestLine, texts: Texts): readonly RawEvidence[] {
  if (rendering !== "raw") return [];
  const [client, upstream] = [texts.get(`${id} client`), texts.get(`${id} upstream`)];
  if (client === undefined || upstream === undefined) return [];
  return [{ request: id, isSame: hashContent(client.text) === hashContent(upstream.text) }];
}
