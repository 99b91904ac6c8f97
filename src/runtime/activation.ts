import type { AddedBlock, Block } from "../engine/index.ts";

/** How soon: what waits with a higher priority comes first. */
export const priorities = ["low", "normal", "high", "critical"] as const;
export type Priority = (typeof priorities)[number];

/**
 * What an activation block says. An agent is asked to answer in a stream, or one of its tools was started;
 * the block is there until that is over, so whoever opens the log after a crash sees what was going on.
 */
export type Activation =
  | { readonly agent: string; readonly priority: Priority; readonly reason: string | null }
  | { readonly agent: string; readonly call: string };

export type AgentActivation = Extract<Activation, { priority: Priority }>;

const agentAnchor = "agent ";
const callAnchor = "call ";

/** It is all in the anchor: there is nothing else to say of it. */
export function anchorOf(activation: Activation): string {
  return "call" in activation
    ? `${callAnchor}${JSON.stringify([activation.agent, activation.call])}`
    : `${agentAnchor}${JSON.stringify([activation.agent, activation.priority, activation.reason])}`;
}

/** Null: it is no activation. */
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

export type Pending = { readonly block: AddedBlock; readonly activation: AgentActivation };

/** Agents that are asked to act, in the order they are to: by priority, then first come first. */
export function pendingOf(blocks: readonly AddedBlock[]): readonly Pending[] {
  const pending = blocks.flatMap((block): readonly Pending[] => {
    const activation = activationOf(block);
    return activation !== null && "priority" in activation ? [{ block, activation }] : [];
  });
  return pending.sort(
    (a, b) =>
      priorities.indexOf(b.activation.priority) - priorities.indexOf(a.activation.priority) ||
      a.block.id - b.block.id,
  );
}
