import { cutText } from "../base/index.ts";
import type { Stream } from "../engine/index.ts";
import { type Moment, nameOf, viewBlocks } from "../engine/moment/index.ts";
import { streamsOf, viewIn } from "../log/index.ts";
import { contentText } from "../protocols/index.ts";
import type { Store } from "../store/index.ts";

const nameCharsMax = 60;
/** Clients put reminders and settings first; the user's own text follows within a few blocks, or never. */
const promptBlocksMax = 8;

/** The user's name for it, else the user's first words, else the client and the start of the id. */
export async function sessionName(store: Store, moment: Moment): Promise<string> {
  const given = nameOf(moment);
  if (given !== null) return given;
  const [main] = streamsOf(moment);
  const title = main === undefined ? null : await streamTitle(store, moment, main);
  if (title !== null) return title;
  const { session, identity } = moment.state;
  return `${identity?.client ?? "unknown"} ${session.slice(0, 8)}`;
}

/** The user's first words in a stream; null if there are none, or none are stored. */
export async function streamTitle(store: Store, moment: Moment, stream: Stream): Promise<string | null> {
  for (const block of firstUserBlocks(moment, stream)) {
    const content = await store.content(block.content);
    const name = content.ok ? nameFromPrompt(contentText(content.value, block)) : null;
    if (name !== null) return name;
  }
  return null;
}

function firstUserBlocks(moment: Moment, stream: Stream) {
  const view = viewIn(moment, stream);
  const blocks = [];
  for (const block of view === null ? [] : viewBlocks(moment, view)) {
    if (block.kind === "user") blocks.push(block);
    if (blocks.length === promptBlocksMax) break;
  }
  return blocks;
}

/** Null for text in tags, because that comes from the client. */
export function nameFromPrompt(text: string | null): string | null {
  return text === null || /^\s*<[a-z][\w-]*( [\w-]+)*>/i.test(text) ? null : singleLine(text);
}

/** One line without control or direction marks, because terminals print it; null if nothing is left. */
export function singleLine(text: string): string | null {
  const line = cutText(text, nameCharsMax * 20)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  const characters = [...line];
  if (characters.length === 0) return null;
  return characters.length <= nameCharsMax
    ? line
    : `${characters.slice(0, nameCharsMax).join("").trimEnd()}…`;
}
