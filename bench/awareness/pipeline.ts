import { Player } from "../../src/analysis/index.ts";
import { pricesOf } from "../../src/config/index.ts";
import type { Sending } from "../../src/session/index.ts";
import type { RecordedTurn, WireMessage } from "../../test/support/recordings.ts";
import type { Shown } from "./texts.ts";

const model = "claude-opus-5-5";
const window = 200_000;

/** What is added to every request of a stream, by the real desk and the real log. */
export async function pipelineTexts(
  turns: readonly RecordedTurn[],
  carriers: "both" | "volatile" = "both",
): Promise<readonly Shown[]> {
  const volatile = await played(turns, "anthropic");
  const permanent = carriers === "both" ? await played(turns, "elsewhere") : [];
  return volatile.map((shown, at) => ({ ...shown, note: permanent[at]?.tail ?? "" }));
}

type Told = Omit<Shown, "note"> & { readonly tail: string };

/** Where no message may clear itself, what is said stays. */
async function played(turns: readonly RecordedTurn[], upstream: string): Promise<readonly Told[]> {
  const headers = { "x-aperture-session": "awareness" };
  const player = new Player({ upstream, headers, windowOf: () => window, pricesOf, policy: "off" });
  const told: Told[] = [];
  const counted = new Set<string>();
  let messages: readonly WireMessage[] = [];
  for (const turn of turns) {
    messages = [...messages.slice(0, turn.k ?? messages.length), ...turn.c];
    const body = { model, max_tokens: 32_000, tools: [tool], messages };
    const sending = await player.take(Buffer.from(JSON.stringify(body)), turn);
    const { written, ...rest } = toldIn(sending);
    // A rewrite sends again what was said before; each header counts once.
    told.push({ ...rest, written: written.filter((text) => !counted.has(text)) });
    for (const text of written) counted.add(text);
    await player.answer(sending, { model, content: turn.a, stop_reason: "end_turn" });
    messages = [...messages, { role: "assistant", content: turn.a }];
  }
  return told;
}

const tool = { name: "look", input_schema: { type: "object", properties: {} } };

const header = /"\[k7f3 turn \d+, [^"]*\]"/g;

/** Our texts in what is sent: those that are new with it, and the headers that stand in it. */
function toldIn({ pieces, sent }: Sending): Told {
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

/** Null for our tools: they are no text. */
function textOf(bytes: Uint8Array): string | null {
  const { text } = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly text?: string };
  return text ?? null;
}
