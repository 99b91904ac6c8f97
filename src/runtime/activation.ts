import type { AddedBlock, Block } from "../engine/frames/index.ts";

/** From least to most urgent: an activation with a higher priority runs first. */
export const priorities = ["low", "normal", "high", "critical"] as const;
export type Priority = (typeof priorities)[number];

/**
 * The content of an activation block: an agent is asked to answer in a stream, or one of its tools was
 * started. The block stays until that is over, so a log that is opened after a crash shows what was going on.
 */
export type Activation =
  | { readonly agent: string; readonly priority: Priority; readonly reason: string | null }
  | { readonly agent: string; readonly call: string };

export type AgentActivation = Extract<Activation, { priority: Priority }>;

const agentAnchor = "agent ";
const callAnchor = "call ";

/** The anchor holds the whole activation; the block has no other content. */
export function activationAnchor(activation: Activation): string {
  return "call" in activation
    ? `${callAnchor}${JSON.stringify([activation.agent, activation.call])}`
    : `${agentAnchor}${JSON.stringify([activation.agent, activation.priority, activation.reason])}`;
}

/** Null if the block is not an activation. */
export function activationOf({ kind, anchor }: Pick<Block, "kind" | "anchor">): Activation | null {
  if (kind !== "activation") return null;
  if (anchor.startsWith(callAnchor)) {
    const [agent, call] = JSON.parse(anchor.slice(callAnchor.length)) as [string, string];
    return { agent, call };
  }
  const [agent, priority, reason] = JSON.parse(anchor.slice(agentAnchor.length)) as [
    string,
    Priority,
    string | null,
  ];
  return { agent, priority, reason };
}

export type PendingActivation = { readonly block: AddedBlock; readonly activation: AgentActivation };

/** The activations of agents in the order they run: by priority, then oldest first. */
export function pendingActivations(blocks: readonly AddedBlock[]): readonly PendingActivation[] {
  const pending = blocks.flatMap((block): readonly PendingActivation[] => {
    const activation = activationOf(block);
    return activation !== null && "priority" in activation ? [{ block, activation }] : [];
  });
  return pending.sort(
    (a, b) =>
      priorities.indexOf(b.activation.priority) - priorities.indexOf(a.activation.priority) ||
      a.block.id - b.block.id,
  );
}
