import type { BlockRow, WindowRow } from "../api/contract.ts";

/** `142.3k`: one decimal above a thousand. A test compares this file with the formats of the CLI. */
export function tokensText(tokens: number): string {
  if (Math.abs(tokens) < 1_000) return `${tokens}`;
  return Math.abs(tokens) < 999_950
    ? `${(tokens / 1_000).toFixed(1)}k`
    : `${(tokens / 1_000_000).toFixed(1)}M`;
}

/** The same for round numbers, such as the size of a window: `200k`. */
export function sizeText(tokens: number): string {
  return tokensText(tokens).replace(/\.0(?=[kM]$)/, "");
}

/** `~` marks an estimate. */
export function countedText(tokens: number | null, exact: boolean): string {
  if (tokens === null) return "?";
  return `${exact ? "" : "~"}${tokensText(tokens)}`;
}

/** `142.3k / 200k (71 %)`: the used tokens. A model without a known window gets `?`. */
export function windowText({ used, size, exact }: WindowRow): string {
  if (size === null) return `${countedText(used, exact)} / ? (window unknown)`;
  return `${countedText(used, exact)} / ${sizeText(size)} (${percentText({ part: used, whole: size })})`;
}

export function percentText({ part, whole }: { readonly part: number; readonly whole: number }): string {
  if (whole <= 0) return "?";
  const percent = (part / whole) * 100;
  if (percent > 0 && percent < 1) return "<1 %";
  // Only a full window shows 100 %.
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent)} %`;
}

/** Dollars if the price is known, else the equivalent in input tokens. */
export function moneyText({ tokens, usd }: { readonly tokens: number; readonly usd: number | null }): string {
  if (usd === null) return `as much as ${tokensText(Math.round(tokens))} input tokens`;
  return `${usd < 0 ? "−" : ""}$${Math.abs(usd).toFixed(Math.abs(usd) < 1 ? 4 : 2)}`;
}

/** `~$12.35`; an unknown price is never shown as `$0.00`. */
export function spendText({ usd }: { readonly usd: number | null }): string {
  if (usd === null) return "price unknown";
  return usd > 0 && usd < 0.01 ? "<$0.01" : `~$${usd.toFixed(2)}`;
}

/** `1 block`, `2 blocks`. */
export function pluralText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function agoText(timeMs: number | null, nowMs: number): string {
  if (timeMs === null) return "";
  const seconds = Math.max(0, Math.round((nowMs - timeMs) / 1_000));
  if (seconds < 60) return seconds < 5 ? "now" : `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return `${Math.floor(seconds / 86_400)} d ago`;
}

/** `3:12 left` until something expires. */
export function leftText(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  if (seconds <= 0) return "expired";
  return `${Math.floor(seconds / 60)}:${`${seconds % 60}`.padStart(2, "0")} left`;
}

export function clockText(timeMs: number): string {
  return new Date(timeMs).toTimeString().slice(0, 8);
}

const byteUnits = ["B", "kB", "MB", "GB"] as const;

export function bytesText(bytes: number): string {
  let [value, at] = [bytes, 0];
  while (value >= 999.95 && at < byteUnits.length - 1) [value, at] = [value / 1_000, at + 1];
  return `${at === 0 ? value : value.toFixed(1)} ${byteUnits[at]}`;
}

/** The form in which a block is sent or wanted, in one word. */
export const formNames: Readonly<Record<BlockRow["shown"], string>> = {
  original: "whole",
  trimmed: "trimmed",
  summarized: "summarized",
  minimal: "minimal",
  placeholder: "pruned",
  absent: "not sent",
};

/** `#12 #27 #31 and 4 more`. */
export function blockList(blocks: readonly number[], max = 8): string {
  const more = blocks.length - max;
  const some = blocks.slice(0, max).map((block) => `#${block}`);
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(" ");
}

/** The short name of a model: `claude-opus-5-5` is `Claude`. */
export function modelName(model: string | null): string {
  if (model === null) return "The model";
  if (/claude/i.test(model)) return "Claude";
  if (/gpt|codex|^o\d/i.test(model)) return "GPT";
  if (/gemini/i.test(model)) return "Gemini";
  return model;
}
