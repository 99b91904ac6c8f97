import type { Mode } from "../engine/frames/index.ts";
import type { WindowSize } from "./prompt/visible-frames.ts";
import type { Provider } from "./provider.ts";
import type { Tool } from "./tool.ts";

/** A message in a stream, from which an agent decides whether it should wake. */
export type SpokenText = { readonly stream: string; readonly speaker: string; readonly text: string };

/** An agent: its identity, the model that answers for it, and what it may do. */
export type Agent = {
  readonly name: string;
  readonly provider: Provider;
  readonly model: string;
  /** All texts are sent, in this order. */
  readonly system?: string | readonly string[];
  readonly tools?: readonly Tool[];
  /** Returns true for a message that wakes the agent. Absent: only activations wake it. */
  readonly wakes?: (spoken: SpokenText) => boolean;
  readonly window?: WindowSize;
  /** Maximum tokens of a prompt. Absent: `agentDefaults.budgetTokens`. */
  readonly budgetTokens?: number;
  readonly maxTokens?: number;
  readonly stopSequences?: readonly string[];
  /** Maximum rounds of tool calls before the agent must answer in text. */
  readonly roundsMax?: number;
  /** An answer is given up after this long without new text. Absent: ten minutes. */
  readonly answerTimeoutMs?: number;
  /** Whether the agent is told about its context and has the tools to manage it. Absent: true. */
  readonly memory?: boolean;
  /** The mode of its commands: what they may do without asking. Absent: `auto`. */
  readonly mode?: Mode;
  /** How many recent messages of each other stream the agent is shown. Absent: none. */
  readonly peripheralNotes?: number;
};

export const agentDefaults = {
  budgetTokens: 150_000,
  maxTokens: 4_096,
  roundsMax: 25,
  toolTimeoutMs: 60_000,
  answerTimeoutMs: 600_000,
} as const;

/** Wakes an agent when a message mentions its name. */
export function whenMentioned(name: string): (spoken: SpokenText) => boolean {
  const pattern = new RegExp(`(^|[^\\p{L}\\p{N}_])@?${escapeRegExp(name)}($|[^\\p{L}\\p{N}_])`, "iu");
  return ({ speaker, text }) => speaker !== name && pattern.test(text);
}

function escapeRegExp(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
