import { cutText } from "../../base/index.ts";
import { blocksOf, type Moment } from "../../engine/index.ts";
import type { Store } from "../../store/index.ts";
import { streamsOf, viewIn } from "./look.ts";
import { textIn } from "./wire-look.ts";

const nameCharsMax = 60;
/** Clients put reminders and settings in front; what the user wrote comes soon or not at all. */
const blocksLookedAt = 8;

/** The first words of the user, else who speaks and the start of the id. */
export async function sessionName(store: Store, moment: Moment): Promise<string> {
  for (const hash of firstUserContents(moment)) {
    const content = await store.content(hash);
    const name = content.ok ? nameFrom(textIn(content.value)) : null;
    if (name !== null) return name;
  }
  const { session, identity } = moment.state;
  return `${identity?.client ?? "unknown"} ${session.slice(0, 8)}`;
}

function firstUserContents(moment: Moment) {
  const main = streamsOf(moment)[0];
  const view = main === undefined ? null : viewIn(moment, main);
  const hashes = [];
  for (const block of view === null ? [] : blocksOf(moment, view)) {
    if (block.kind === "user") hashes.push(block.content);
    if (hashes.length === blocksLookedAt) break;
  }
  return hashes;
}

/**
 * One line without control or direction marks: it is printed by terminals. Text in tags is the client's.
 */
export function nameFrom(text: string | null): string | null {
  if (text === null || /^\s*<[a-z][\w-]*>/i.test(text)) return null;
  const line = cutText(text, nameCharsMax * 20)
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, " ")
    .trim();
  const characters = [...line];
  if (characters.length === 0) return null;
  return characters.length <= nameCharsMax
    ? line
    : `${characters.slice(0, nameCharsMax).join("").trimEnd()}…`;
}
