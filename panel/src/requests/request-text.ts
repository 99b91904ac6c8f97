import type { PricedRequest } from "../api/contract.ts";
import { tokensText } from "../base/format.ts";

/** Explains how a request was sent. */
export const renderingText: Readonly<Record<PricedRequest["rendering"], string>> = {
  raw: "sent unchanged: 0 bytes differ from the client’s request",
  managed: "planned by Aperture: sent from its ledger, with its notes",
  plain: "sent as the client wrote it, without reasoning the provider would reject",
};

/** Tokens of the prompt, cached ones included. */
export function promptOf({ usage }: PricedRequest): number | null {
  return usage === null ? null : usage.input + usage.cacheRead + usage.cacheWrite;
}

export function usageText(tokens: number | null | undefined): string {
  return tokens === null || tokens === undefined ? "–" : tokensText(tokens);
}

export function addedText(addedMs: number | null): string {
  if (addedMs === null) return "–";
  return `${addedMs < 10 ? addedMs.toFixed(1) : Math.round(addedMs)} ms`;
}

export function outcomeText({ outcome, status }: Pick<PricedRequest, "outcome" | "status">): string {
  if (outcome === "open") return "in progress";
  return outcome === "complete" && status !== null ? `${status}` : [outcome, status ?? ""].join(" ").trim();
}

export function isFailed({ outcome, status }: Pick<PricedRequest, "outcome" | "status">): boolean {
  return outcome !== "open" && (outcome !== "complete" || (status ?? 0) >= 400);
}

/** The purpose of a request: `turn 12`, `count`, `turn 3, round of request 7`. */
export function roleText({ role, relation, of, turn }: PricedRequest): string {
  const number = turn === null ? "" : ` ${turn}`;
  const isPlain = relation === "none" || relation === "append" || relation === "first";
  return `${role}${number}${isPlain ? "" : `, ${relation}${of === null ? "" : ` of request ${of}`}`}`;
}

/** The first block that a rewrite changed; null if the request only extends the one before. */
export function firstChange({ rewrite }: PricedRequest): string | null {
  if (rewrite === null) return null;
  const first = Math.min(...rewrite.blocks);
  return Number.isFinite(first) ? `▼ #${first}` : "▼";
}
