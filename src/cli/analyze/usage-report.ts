import type { SessionReport, Totals } from "../../analysis/index.ts";
import { sum } from "../../analysis/index.ts";
import type { BlockKind } from "../../engine/frames/index.ts";
import type { TranscriptProblem } from "../../transcripts/index.ts";

/** The data behind all outputs. The fields are what `--json` prints. */
export type UsageReport = {
  readonly v: 1;
  readonly totals: Totals;
  readonly sessions: readonly SessionReport[];
  /** The number of sessions that were found but left out by the limit. */
  readonly leftOut: number;
  readonly problems: readonly TranscriptProblem[];
  /** An explanation of the figures. */
  readonly method: readonly string[];
};

export const kindNames: readonly (readonly [kind: BlockKind, caption: string])[] = [
  ["tool-result", "tool results"],
  ["tool-call", "tool calls"],
  ["system", "system and tools"],
  ["user", "user messages"],
  ["assistant", "model answers"],
  ["reasoning", "reasoning"],
  ["media", "images"],
];

export const method: readonly string[] = [
  "Savings are simulated as in the cost benchmark: each session runs through the real planner and log, and a " +
    "model of the provider's cache prices every prompt as it was sent and as Aperture would have sent it. " +
    "Answers stay as recorded.",
  "An answer that uses a name that was not sent is charged: the prompt is read once more, and an excerpt of " +
    "3,000 characters is written and carried from then on.",
  "Transcripts contain no system prompts and tool definitions. Their sizes are assumed as seen on " +
    "the wire: 47k characters for Claude Code, 39k for Codex, 48k for Gemini CLI.",
  "Tokens are estimated, except those the provider reported. Output costs the same either way and is not part " +
    "of the comparison.",
  "A result counts as used if a later answer contains a path, an identifier or a number whose latest copy is " +
    "in it. A model may also guess a name, so this overestimates use.",
];

/** The sums of one client. */
export type ClientSavings = {
  readonly client: string;
  readonly sessions: number;
  readonly requests: number;
  readonly asSent: number;
  readonly charged: number;
};

export function clientSavings(sessions: readonly SessionReport[]): readonly ClientSavings[] {
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

/** Clients whose protocol Aperture manages. It relays and records the others for now. */
const managedClients: readonly string[] = ["claude-code"];
const clientTitles: Readonly<Record<string, string>> = { codex: "Codex", "gemini-cli": "Gemini CLI" };

export function isManagedToday(client: string): boolean {
  return managedClients.includes(client);
}

/** Savings of a client that is not managed yet are hypothetical, and the report must say so. */
export function notManagedText(sessions: readonly SessionReport[]): string | null {
  const clients = [...new Set(sessions.map(({ client }) => client))].filter((one) => !isManagedToday(one));
  if (clients.length === 0) return null;
  const names = clients.map((client) => clientTitles[client] ?? client);
  return `${names.join(" and ")}: hypothetical; Aperture only relays and records their requests today.`;
}

/** A transcript of another program may have zeros where no usage was reported. */
export function hasUsage({ input, cacheRead, cacheWrite, output }: Totals["spent"]): boolean {
  return input + cacheRead + cacheWrite + output > 0;
}

/** Negative if it would have cost more. */
export function savedShare({
  asSent,
  charged,
}: {
  readonly asSent: number;
  readonly charged: number;
}): number {
  return asSent === 0 ? 0 : 1 - charged / asSent;
}

/** `saves 14.2 %`, `costs 1.3 % more`: words, because many readers misread a bare sign. */
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

/** Cents up to a thousand dollars, then whole dollars. */
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
