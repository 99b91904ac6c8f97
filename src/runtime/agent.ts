import type { Mode } from "../engine/index.ts";
import type { Provider } from "./provider.ts";
import type { Tool } from "./tool.ts";
import type { WindowSize } from "./window.ts";

/** Something that was said, for an agent that decides whether it is meant. */
export type Said = { readonly stream: string; readonly speaker: string; readonly text: string };

/** An agent: who it is, who thinks for it, and what it may do. */
export type Agent = {
  readonly name: string;
  readonly provider: Provider;
  readonly model: string;
  /** All of it is delivered, in this order. */
  readonly system?: string | readonly string[];
  readonly tools?: readonly Tool[];
  /** Whether it is woken by what somebody says; left out, only activations wake it. */
  readonly wakes?: (said: Said) => boolean;
  readonly window?: WindowSize;
  /** How many tokens a prompt may have; left out, what is usual for a model. */
  readonly budgetTokens?: number;
  readonly maxTokens?: number;
  readonly stopSequences?: readonly string[];
  /** So often it may call tools before it must answer in words. */
  readonly roundsMax?: number;
  /** So long nothing may be heard of an answer before it is given up; left out, ten minutes. */
  readonly answerTimeoutMs?: number;
  /** Whether it is told of its context and may manage it; left out, it is and may. */
  readonly memory?: boolean;
  /** What its commands may do without asking; left out, `auto`. */
  readonly mode?: Mode;
  /** So many notes of each other stream it is told; left out, none. */
  readonly peripheralNotes?: number;
};

export const usual = {
  budgetTokens: 150_000,
  maxTokens: 4_096,
  roundsMax: 25,
  toolTimeoutMs: 60_000,
  answerTimeoutMs: 600_000,
} as const;

/** Wakes an agent when it is spoken to by name. */
export function whenMentioned(name: string): (said: Said) => boolean {
  const pattern = new RegExp(`(^|[^\\p{L}\\p{N}_])@?${escaped(name)}($|[^\\p{L}\\p{N}_])`, "iu");
  return ({ speaker, text }) => speaker !== name && pattern.test(text);
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
