import { pricesOf } from "../../config/index.ts";
import type { Awareness, PlanContext } from "../../ledger/index.ts";
import { isCacheCold } from "../../policy/index.ts";
import { type Agent, agentDefaults } from "../agent.ts";
import type { AgentRun, RunDeps } from "../run-deps.ts";

/** The most tokens that a prompt of the agent may have. */
export function promptTokensMax({ budgetTokens = agentDefaults.budgetTokens }: Agent): number {
  return budgetTokens;
}

const awarenessOf = ({ memory = true }: Agent): Awareness => ({
  headers: memory ? "compact" : "off",
  manifest: memory ? "on" : "off",
  variant: "text",
  fill: "shown",
  commands: "client",
  zoneMinutes: 0,
});

/** The time, the settings and the limits that the ledger plans a prompt with. */
export function promptContext({ clock }: RunDeps, { agent, agentStream }: AgentRun): PlanContext {
  const { model } = agent;
  const prices = pricesOf(model);
  const timeMs = clock.now();
  const lifetimeMs = agentStream.ledger.current?.request.cacheLifetimeMs ?? 0;
  const isCold = agentStream.sentMs !== null && isCacheCold(lifetimeMs, timeMs - agentStream.sentMs, prices);
  return {
    style: "managed",
    timeMs,
    awareness: awarenessOf(agent),
    // Tools of an agent return what their author wants it to read.
    arrival: "off",
    prices,
    window: promptTokensMax(agent),
    coldReason: isCold ? "cold" : agentStream.model !== null && agentStream.model !== model ? "model" : null,
    mayClear: false,
    mayEdit: false,
    // Texts of the runtime stay where they were sent, and so do those of the ledger.
    keepsTail: true,
    isFullReport: true,
    results: new Map(),
  };
}
