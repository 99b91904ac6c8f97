import { cutText } from "../../base/index.ts";
import { blocksOf, type Moment, nameOf, type Stream } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { streamsOf, viewIn } from "./look.ts";
import { textIn } from "./wire-look.ts";

const nameCharsMax = 60;
/** Clients put reminders and settings in front; what the user wrote comes soon or not at all. */
const blocksLookedAt = 8;

/** As the user calls it, else the first words of the user, else who speaks and the start of the id. */
export async function sessionName(store: Store, moment: Moment): Promise<string> {
  const given = nameOf(moment);
  if (given !== null) return given;
  const [main] = streamsOf(moment);
  const asked = main === undefined ? null : await streamTitle(store, moment, main);
  if (asked !== null) return asked;
  const { session, identity } = moment.state;
  return `${identity?.client ?? "unknown"} ${session.slice(0, 8)}`;
}

/** The first words of the user in a stream; null: there are none, or none are stored. */
export async function streamTitle(store: Store, moment: Moment, stream: Stream): Promise<string | null> {
  for (const hash of firstUserContents(moment, stream)) {
    const content = await store.content(hash);
    const name = content.ok ? nameFrom(textIn(content.value)) : null;
    if (name !== null) return name;
  }
  return null;
}

function firstUserContents(moment: Moment, stream: Stream) {
  const view = viewIn(moment, stream);
  const hashes = [];
  for (const block of view === null ? [] : blocksOf(moment, view)) {
    if (block.kind === "user") hashes.push(block.content);
    if (hashes.length === blocksLookedAt) break;
  }
  return hashes;
}

/** Text in tags is the client's. */
export function nameFrom(text: string | null): string | null {
  return text === null || /^\s*<[a-z][\w-]*( [\w-]+)*>/i.test(text) ? null : lineFrom(text);
}

/** One line without control or direction marks, because terminals print it; null: nothing is left of it. */
export function lineFrom(text: string): string | null {
  const line = cutText(text, nameCharsMax * 20)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  const characters = [...line];
  if (characters.length === 0) return null;
  return characters.length <= nameCharsMax
    ? line
    : `${characters.slice(0, nameCharsMax).join("").trimEnd()}…`;
}
