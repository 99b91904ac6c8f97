import type { Json } from "../../base/index.ts";
import { commandOf, pathOf } from "../../levels/index.ts";
import { type Recording, streamsOf } from "../../transcripts/index.ts";

/** What a tool was called for. */
export type CallFacts = {
  readonly tool: string;
  /** The file it is about, as it was called; null: none, or nobody can tell. */
  readonly file: string | null;
  /** In a few words. */
  readonly label: string;
  /** Equal for calls that ask for the same thing. */
  readonly key: string;
};

/** By the id of the call. */
export function callsIn(recording: Recording, project: string | null): ReadonlyMap<string, CallFacts> {
  const calls = new Map<string, CallFacts>();
  for (const turns of streamsOf(recording))
    for (const { a } of turns)
      for (const { type, id, name, input } of a)
        if (type === "tool_use" && typeof id === "string")
          calls.set(id, factsOf({ tool: `${name}`, project }, input));
  return calls;
}

const labelCharsMax = 72;
const pathCharsMax = 44;

type Called = { readonly tool: string; readonly project: string | null };

function factsOf({ tool, project }: Called, given: unknown): CallFacts {
  const input = (given ?? null) as Json; // Read from JSON, and nothing else is in it.
  const command = commandOf({ input });
  const path = pathOf({ input }) ?? (command === null ? patchedFile(input) : fileRead(command));
  const file = path === null ? null : inProject(path, project);
  const words = file === null ? (command ?? firstText(input) ?? "") : pathEnd(file);
  const label = `${tool} ${words}`.replace(/\s+/g, " ").trim();
  const short = label.length > labelCharsMax ? `${label.slice(0, labelCharsMax - 1)}…` : label;
  return { tool, file, label: short, key: `${tool} ${JSON.stringify(input)}` };
}

/** Whoever looks at a project knows where it is. */
function inProject(path: string, project: string | null): string {
  const isInside = project !== null && project !== "" && path.startsWith(`${project}/`);
  return isInside ? path.slice(project.length + 1) : path;
}

/** The end of a path tells more than its beginning. */
function pathEnd(file: string): string {
  return file.length > pathCharsMax ? `…${file.slice(-(pathCharsMax - 1))}` : file;
}

const readers = /^(?:cat|head|tail|nl|less|more|bat|sed|wc)\b/;

/** The file that a plain command shows. */
function fileRead(command: string): string | null {
  const first = command
    .replace(/^\s*(?:\S*sh\s+-l?c\s+)?/, "")
    .split(/&&|\|\||[|;\n]/)[0]
    ?.trim();
  if (first === undefined || !readers.test(first)) return null;
  const words = first.split(/\s+/).slice(1);
  return words.findLast((word) => /^[\w./~@-]*[\w-]\.\w+$/.test(word) && !word.startsWith("-")) ?? null;
}

/** A patch says which file it is for. */
function patchedFile(input: Json): string | null {
  const text = firstText(input);
  return text === null ? null : (/^\*\*\* (?:Update|Add|Delete) File: (.+)$/m.exec(text)?.[1] ?? null);
}

function firstText(input: Json): string | null {
  if (typeof input !== "object" || input === null) return null;
  const texts = Object.values(input).flatMap((value) => (typeof value === "string" ? [value] : []));
  return texts.find((text) => text !== "") ?? null;
}
