import type { Json } from "../../base/index.ts";
import { commandOf, pathOf } from "../../levels/index.ts";
import { type Recording, recordingStreams } from "../../transcripts/index.ts";
import { recordedPart } from "../play/block-text.ts";

/** The tool, file and label of a call. */
export type CallFacts = {
  readonly tool: string;
  /** The file that the call names. Null if there is none or it is not known. */
  readonly file: string | null;
  /** A short description for people. */
  readonly label: string;
  /** Equal for calls of the same tool with the same input. */
  readonly key: string;
};

/** The facts of all calls, by the id of the call. */
export function callsIn(recording: Recording, project: string | null): ReadonlyMap<string, CallFacts> {
  const calls = new Map<string, CallFacts>();
  for (const turns of recordingStreams(recording))
    for (const part of turns.flatMap(({ a }) => a.map(recordedPart)))
      if (part.type === "call") calls.set(part.id, factsOf({ tool: part.name, project }, part.input));
  return calls;
}

const labelCharsMax = 72;
const pathCharsMax = 44;

function factsOf(
  { tool, project }: { readonly tool: string; readonly project: string | null },
  input: Json,
): CallFacts {
  const command = commandOf({ input });
  const path = pathOf({ input }) ?? (command === null ? patchedFile(input) : fileRead(command));
  const file = path === null ? null : projectPath(path, project);
  const subject = file === null ? (command ?? firstText(input) ?? "") : pathEnd(file);
  const label = `${tool} ${subject}`.replace(/\s+/g, " ").trim();
  const short = label.length > labelCharsMax ? `${label.slice(0, labelCharsMax - 1)}…` : label;
  return { tool, file, label: short, key: `${tool} ${JSON.stringify(input)}` };
}

/** A path relative to the project: the reader of a report knows where the project is. */
function projectPath(path: string, project: string | null): string {
  const isInside = project !== null && project !== "" && path.startsWith(`${project}/`);
  return isInside ? path.slice(project.length + 1) : path;
}

/** Shortens a path at its front, because its end tells more. */
function pathEnd(file: string): string {
  return file.length > pathCharsMax ? `…${file.slice(-(pathCharsMax - 1))}` : file;
}

const readingPrograms = /^(?:cat|head|tail|nl|less|more|bat|sed|wc)\b/;

/** The file that a simple shell command prints. Null if it prints none. */
function fileRead(command: string): string | null {
  const first = command
    .replace(/^\s*(?:\S*sh\s+-l?c\s+)?/, "")
    .split(/&&|\|\||[|;\n]/)[0]
    ?.trim();
  if (first === undefined || !readingPrograms.test(first)) return null;
  const words = first.split(/\s+/).slice(1);
  return words.findLast((word) => /^[\w./~@-]*[\w-]\.\w+$/.test(word) && !word.startsWith("-")) ?? null;
}

/** The file that a patch names. Null if the input is no patch. */
function patchedFile(input: Json): string | null {
  const text = firstText(input);
  return text === null ? null : (/^\*\*\* (?:Update|Add|Delete) File: (.+)$/m.exec(text)?.[1] ?? null);
}

function firstText(input: Json): string | null {
  if (typeof input !== "object" || input === null) return null;
  const texts = Object.values(input).flatMap((value) => (typeof value === "string" ? [value] : []));
  return texts.find((text) => text !== "") ?? null;
}
