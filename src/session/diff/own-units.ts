import { isCommandTool } from "../../commands/index.ts";
import { spokenIn } from "../../protocols/index.ts";
import type { BodyUnit } from "./body-units.ts";
import type { ReasonCode } from "./reason.ts";

export type OwnCode = Extract<
  ReasonCode,
  "tools" | "instructions" | "header" | "manifest" | "change-note" | "command" | "answer"
>;

/** What a unit of ours is, by where it stands and how it begins; null: it is like none of ours. */
export function ownCode({ unit }: BodyUnit, bytes: Uint8Array): OwnCode | null {
  if (unit.section === "tools") return isCommandTool(unit.key.split(":")[1] ?? "") ? "tools" : null;
  const spoken = spokenIn(bytes);
  if (spoken?.type === "call") return isCommandTool(spoken.name) ? "command" : null;
  return spoken?.type === "text" ? textCode(spoken.text) : null;
}

const beginnings: readonly (readonly [RegExp, OwnCode])[] = [
  [/^# Context notes\n/, "instructions"],
  [/^(?:\[|### )CONTEXT MANIFEST \w+ |^<context-manifest mark=/, "manifest"],
  [/^\[\w+ turn \d+: /, "change-note"],
  [/^\[\w+ turn \d+[,;]|^--- Message ID: |^\[Part ID: /, "header"],
  [/^\[\w+ answer to /, "answer"],
];

function textCode(text: string): OwnCode | null {
  return beginnings.find(([pattern]) => pattern.test(text))?.[1] ?? null;
}

/** Whether a manifest, or what stands for one, speaks of what the user has selected. */
export function namesSelection(bytes: Uint8Array): boolean {
  const spoken = spokenIn(bytes);
  return spoken?.type === "text" && /\[user-selected\] |user selected #/.test(spoken.text);
}

/** The mark of the session, as it stands in lines of ours; null where there are none. */
export function markIn(texts: Iterable<Uint8Array>): string | null {
  for (const bytes of texts) {
    const spoken = spokenIn(bytes);
    const found = spoken?.type === "text" ? marked.exec(spoken.text) : null;
    if (found !== null) return found[1] ?? found[2] ?? found[3] ?? null;
  }
  return null;
}

const marked = /carry the mark (\w+) come from|^\[CONTEXT MANIFEST (\w+) |^\[(\w+) turn \d+/;
