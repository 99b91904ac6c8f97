import type { ClientForm, Recording } from "../../transcripts/index.ts";
import type { ClientShape } from "./assumptions.ts";

/** Recordings lack system texts and tool definitions, so filler text takes their place. */
export function clientForm(
  recording: Recording,
  shape: Pick<ClientShape, "overheadChars" | "toolsChars" | "systemMarks" | "messageMarks">,
): ClientForm {
  const { systemMarks, messageMarks, overheadChars, toolsChars } = shape;
  const recorded = systemText(recording.system);
  const missing = Math.max(0, overheadChars - recorded.length);
  const forTools = recorded === "" ? Math.min(missing, toolsChars) : missing;
  const names = recording.tools.length === 0 ? ["look"] : recording.tools;
  const each = Math.floor(forTools / names.length);
  return {
    system: recorded === "" ? filler("system", missing - forTools) : recorded,
    tools: names.map((name) => ({ name, description: filler(name, each) })),
    systemMarks,
    messageMarks,
  };
}

function systemText(system: unknown): string {
  if (system === null || system === undefined) return "";
  return typeof system === "string" ? system : JSON.stringify(system);
}

/** Has as many characters per token as measured in sessions, and no name that a model might use. */
const fillerText = "- if it is set: take (a) or (b), not both; the user may want none, so ask. ";

function filler(name: string, chars: number): string {
  if (chars <= 0) return "";
  return `${name}: ${fillerText.repeat(Math.ceil(chars / fillerText.length))}`.slice(0, chars);
}
