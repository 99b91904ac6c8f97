import { changeVerbs, decideVerbs } from "./change-verbs.ts";
import { helpVerbs, keepVerbs, moveVerbs } from "./keep-verbs.ts";
import { lookVerbs } from "./look-verbs.ts";
import { connectVerbs, startVerbs } from "./start-verbs.ts";
import type { Flag, VerbSpec } from "./verb-spec.ts";

type Specs =
  | typeof startVerbs
  | typeof connectVerbs
  | typeof lookVerbs
  | typeof changeVerbs
  | typeof decideVerbs
  | typeof moveVerbs
  | typeof keepVerbs
  | typeof helpVerbs;
export type VerbName = Specs[number]["name"];
export type CliVerb = VerbSpec & { readonly name: VerbName };

/** Verbs that serve one purpose, in the order in which the help lists them. */
export type VerbGroup = {
  readonly name: string;
  readonly about: string;
  readonly verbs: readonly CliVerb[];
};

export const verbGroups: readonly VerbGroup[] = [
  { name: "start", about: "start and stop Aperture, check that it works", verbs: startVerbs },
  { name: "connect", about: "connect clients and shells to Aperture", verbs: connectVerbs },
  { name: "look", about: "inspect sessions, requests and cost", verbs: lookVerbs },
  { name: "change", about: "change the context, as the model can", verbs: changeVerbs },
  { name: "decide", about: "undo changes, and decide what the model may do", verbs: decideVerbs },
  { name: "move", about: "analyze, import, export and continue sessions", verbs: moveVerbs },
  { name: "keep", about: "manage settings and stored data", verbs: keepVerbs },
  { name: "help", about: "show help", verbs: helpVerbs },
];

export const verbTable: readonly CliVerb[] = verbGroups.flatMap(({ verbs }) => verbs);

/** Options that every verb takes, before or after its name. */
export const globalFlags: readonly Flag[] = [
  {
    name: "session",
    value: "ID",
    about: "id of a session, the start of one, or last: the newest with a readable conversation (default)",
  },
  { name: "config", value: "FILE", about: "overrides APERTURE_CONFIG" },
  { name: "port", value: "PORT", about: "overrides APERTURE_PORT" },
  { name: "host", value: "HOST", about: "overrides APERTURE_HOST" },
  { name: "data-dir", value: "DIR", about: "overrides APERTURE_DATA_DIR" },
  { name: "quiet", short: "q", about: "print the result only: no headings, no hints" },
  { name: "verbose", short: "v", about: "print every API request and its duration to standard error" },
  { name: "no-color", about: "print no colours, like NO_COLOR" },
  { name: "plain", about: "print no colours, and one tab between columns, for scripts" },
  { name: "no-input", about: "never prompt; refuse what needs an answer" },
  { name: "yes", short: "y", about: "skip confirmation prompts" },
  { name: "help", short: "h", about: "show help for a verb, with examples" },
  { name: "version", about: "print the version" },
];

export function verbNamed(name: string): CliVerb | null {
  return verbTable.find((verb) => verb.name === name) ?? null;
}

export function groupNamed(name: string): VerbGroup | null {
  return verbGroups.find((group) => group.name === name) ?? null;
}
