import { RequestPlayer } from "../../src/analysis/play/request-player.ts";
import { pricesOf } from "../../src/config/index.ts";
import type { PlannedRequest } from "../../src/exchange/index.ts";
import type { RecordedMessage, RecordedTurn } from "../../test/support/recordings.ts";
import type { ShownTexts } from "./shown-texts.ts";

const model = "claude-opus-5-5";
const window = 200_000;

/** The notes that the real planner and the real log add to every request of a stream. */
export async function pipelineTexts(
  turns: readonly RecordedTurn[],
  carriers: "both" | "volatile" = "both",
): Promise<readonly ShownTexts[]> {
  const volatile = await playStreamTexts(turns, "anthropic");
  const permanent = carriers === "both" ? await playStreamTexts(turns, "elsewhere") : [];
  return volatile.map((shown, at) => ({ ...shown, note: permanent[at]?.tail ?? "" }));
}

type OwnTexts = Omit<ShownTexts, "note"> & { readonly tail: string };

/** Plays a stream; without self-clearing messages, as on other upstreams, notes are permanent. */
async function playStreamTexts(
  turns: readonly RecordedTurn[],
  upstream: string,
): Promise<readonly OwnTexts[]> {
  const headers = { "x-aperture-session": "awareness" };
  const player = new RequestPlayer({ upstream, headers, windowOf: () => window, pricesOf, policy: "off" });
  const texts: OwnTexts[] = [];
  const counted = new Set<string>();
  let messages: readonly RecordedMessage[] = [];
  for (const turn of turns) {
    messages = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
    const body = { model, max_tokens: 32_000, tools: [tool], messages };
    const planned = await player.plan(Buffer.from(JSON.stringify(body)), turn);
    const { written, ...rest } = ownTextsIn(planned);
    // A rewrite sends earlier headers again; each header counts once.
    texts.push({ ...rest, written: written.filter((text) => !counted.has(text)) });
    for (const text of written) counted.add(text);
    await player.answer(planned, { model, content: turn.a, stop: "end" });
    messages = [...messages, { role: "assistant", content: turn.a }];
  }
  return texts;
}

const tool = { name: "look", input_schema: { type: "object", properties: {} } };

const header = /"\[k7f3 turn \d+, [^"]*\]"/g;

/** The notes in a request: those that are new, and all headers it contains. */
function ownTextsIn({ pieces, sent }: PlannedRequest): OwnTexts {
  const own = (sent?.fresh ?? []).filter(({ origin }) => origin === "aperture");
  const texts = own.flatMap(({ bytes }) => textOf(bytes) ?? []);
  const isHeader = (text: string): boolean => /^\[k7f3 turn \d+, /.test(text);
  const standing = [...Buffer.concat(pieces).toString("utf8").matchAll(header)].map(
    ([text]) => JSON.parse(text) as string,
  );
  const rest = texts.filter((text) => !isHeader(text) && !text.startsWith("# "));
  const tail = rest.at(-1) ?? "";
  const manifest = tail.startsWith("[CONTEXT MANIFEST") ? tail : "";
  return { written: texts.filter(isHeader), standing, manifest, tail };
}

/** Null for our tools, which are no text. */
function textOf(bytes: Uint8Array): string | null {
  const { text } = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly text?: string };
  return text ?? null;
}
