import type { PricedRequest } from "../api/contract.ts";
import { tokensText } from "../base/words.ts";

/** How a request was sent on, in a word, and what that means. */
export const renderingAbout: Readonly<Record<PricedRequest["rendering"], string>> = {
  raw: "as the client sent it: 0 bytes changed",
  managed: "from our transcript, with our lines in it",
  plain: "as the client sent it, without reasoning that could not be sent",
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
  if (outcome === "open") return "open…";
  return outcome === "complete" && status !== null ? `${status}` : [outcome, status ?? ""].join(" ").trim();
}

export function isTrouble({ outcome, status }: Pick<PricedRequest, "outcome" | "status">): boolean {
  return outcome !== "open" && (outcome !== "complete" || (status ?? 0) >= 400);
}

/** What it is to its session: `turn 12`, `count`, `turn 3, round of 7`. */
export function roleText({ role, relation, of, turn }: PricedRequest): string {
  const place = turn === null ? "" : ` ${turn}`;
  const isPlain = relation === "none" || relation === "append" || relation === "first";
  return `${role}${place}${isPlain ? "" : `, ${relation}${of === null ? "" : ` of ${of}`}`}`;
}

/** The first block that is shown otherwise than in the request before; null where it only goes on. */
export function firstChange({ rewrite }: PricedRequest): string | null {
  if (rewrite === null) return null;
  const first = Math.min(...rewrite.blocks);
  return Number.isFinite(first) ? `▼ #${first}` : "▼";
}
