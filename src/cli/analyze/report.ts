import type { SessionReport, Totals } from "../../analysis/index.ts";
import { sum } from "../../analysis/index.ts";
import type { BlockKind } from "../../engine/index.ts";
import type { TranscriptProblem } from "../../transcripts/index.ts";

/** Everything that is told, in whatever form. The fields are what `--json` prints. */
export type Report = {
  readonly v: 1;
  readonly totals: Totals;
  readonly sessions: readonly SessionReport[];
  /** Sessions that were found and not looked at because there were too many. */
  readonly leftOut: number;
  readonly problems: readonly TranscriptProblem[];
  /** What the figures are, in sentences. */
  readonly method: readonly string[];
};

/** In the order people think of them. */
export const kindWords: readonly (readonly [kind: BlockKind, words: string])[] = [
  ["tool-result", "tool results"],
  ["tool-call", "tool calls"],
  ["system", "system and tools"],
  ["user", "what you said"],
  ["assistant", "what the model said"],
  ["reasoning", "reasoning"],
  ["media", "images"],
];

export const method: readonly string[] = [
  "Savings are a simulation, the one of the cost benchmark: each session is played through the real desk and " +
    "log, and every prompt is priced by a model of the provider's cache, as it was sent and as Aperture would " +
    "have sent it. Answers stay as they were recorded.",
  "An answer that uses a name which was not shown is charged: the prompt is read once more, and an excerpt of " +
    "3,000 characters is written and carried from then on.",
  "Transcripts do not hold system prompts and tool definitions. They are taken to be as large as was seen on " +
    "the wire: 47k characters for Claude Code, 39k for Codex, 48k for Gemini CLI.",
  "Tokens are estimated, except those the provider reported. Output costs the same either way and is not part " +
    "of the comparison.",
  "Used means: a later answer has a path, an identifier or a number whose most recent copy stands there. A name " +
    "may also be guessed, so this counts too much as used rather than too little.",
];

/** Per client, as benchmark and people ask for it. */
export type ClientRow = {
  readonly client: string;
  readonly sessions: number;
  readonly requests: number;
  readonly asSent: number;
  readonly charged: number;
};

export function clientRows(sessions: readonly SessionReport[]): readonly ClientRow[] {
  return [...new Set(sessions.map(({ client }) => client))].sort().map((client) => {
    const its = sessions.filter((one) => one.client === client);
    return {
      client,
      sessions: its.length,
      requests: sum(its.map(({ requests }) => requests)),
      asSent: sum(its.map(({ simulated }) => simulated.asSent)),
      charged: sum(its.map(({ simulated }) => simulated.charged)),
    };
  });
}

/** Clients whose protocol Aperture manages; those of others are relayed and recorded for now. */
const managedClients: readonly string[] = ["claude-code"];
const clientWords: Readonly<Record<string, string>> = { codex: "Codex", "gemini-cli": "Gemini CLI" };

export function isManagedToday(client: string): boolean {
  return managedClients.includes(client);
}

/** What is said of a client that is not managed yet is said as if it were, and that has to be said too. */
export function asIfText(sessions: readonly SessionReport[]): string | null {
  const clients = [...new Set(sessions.map(({ client }) => client))].filter((one) => !isManagedToday(one));
  if (clients.length === 0) return null;
  const names = clients.map((client) => clientWords[client] ?? client);
  return `${names.join(" and ")}: as if managed; today Aperture only relays and records what they send.`;
}

/** A file that somebody else wrote in a client's form may say zero where nothing was reported. */
export function saysUsage({ input, cacheRead, cacheWrite, output }: Totals["spent"]): boolean {
  return input + cacheRead + cacheWrite + output > 0;
}

/** Below zero where it would have cost more. */
export function savedShare({
  asSent,
  charged,
}: {
  readonly asSent: number;
  readonly charged: number;
}): number {
  return asSent === 0 ? 0 : 1 - charged / asSent;
}

/** `saves 14.2 %`, `costs 1.3 % more`: a sign alone is read the wrong way round by half of all people. */
export function savedText(share: number): string {
  const percent = Math.abs(100 * share).toFixed(1);
  if (percent === "0.0") return "the same";
  return share > 0 ? `saves ${percent} %` : `costs ${percent} % more`;
}

export function shareText(part: number, whole: number): string {
  if (whole <= 0) return "?";
  const percent = (100 * part) / whole;
  return percent > 0 && percent < 0.5 ? "<1 %" : `${Math.round(percent)} %`;
}

/** Cents matter below ten dollars, and nobody reads more digits above. */
export function usdText(usd: number): string {
  if (usd === 0) return "$0";
  if (Math.abs(usd) < 0.01) return "<$0.01";
  return `$${usd < 1_000 ? usd.toFixed(2) : Math.round(usd).toLocaleString("en-US")}`;
}

export function daysText({ startedMs, endedMs }: Pick<Totals, "startedMs" | "endedMs">): string {
  if (startedMs === null || endedMs === null) return "";
  const [from, to] = [startedMs, endedMs].map((ms) => new Date(ms).toISOString().slice(0, 10));
  return from === to ? `${from}` : `${from} to ${to}`;
}
