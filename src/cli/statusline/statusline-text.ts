import type { GlanceAnswer } from "../../control/index.ts";
import type { Usage } from "../../engine/frames/index.ts";
import type { StepRow } from "../../queries/answers/index.ts";
import type { WindowRow } from "../../recorder/index.ts";
import { percentText, sizeText } from "../format/number-text.ts";
import { printable } from "../format/printable.ts";
import { clockText } from "../format/time-text.ts";
import type { ClientFacts } from "./client-facts.ts";

/** Aperture's answer. Absent: it is not running. Unknown: it has seen no request of this session. */
export type StatuslineFacts = GlanceAnswer | "absent" | "unknown" | null;

/** `sonnet 71% 142k/200k | cache 94% 3:12 | $0.42 | Claude -6.2k`; unknown parts are left out. */
export function statuslineText(client: ClientFacts, facts: StatuslineFacts, nowMs: number): string {
  const known = facts === null || typeof facts === "string" ? null : facts;
  const head = [modelText(client.model ?? known?.model ?? null), windowText(client, known?.window ?? null)];
  const parts = [
    head.filter((part) => part !== "").join(" "),
    known === null ? absenceText(facts) : cacheText(known, nowMs),
    client.usd === null ? "" : `$${client.usd.toFixed(2)}`,
    known === null ? "" : stepText(known.step),
  ];
  return parts.filter((part) => part !== "").join(" | ");
}

function absenceText(facts: StatuslineFacts): string {
  if (facts === "absent") return "aperture is not running";
  return facts === "unknown" ? "no request through aperture yet" : "aperture";
}

/** A display name stays as it is; an id loses the parts that models share. */
function modelText(model: string | null): string {
  return printable((model ?? "").replace(/^claude-/, "").replace(/-\d{8}$/, ""), 30);
}

/** Aperture's own count is preferred, because the panel shows the same. */
function windowText(client: ClientFacts, ours: WindowRow | null): string {
  const known = ours !== null && ours.used > 0 ? ours : null;
  const size = known?.size ?? client.window?.size ?? null;
  const used = known?.used ?? client.window?.used ?? null;
  if (used === null) return "";
  if (size === null) return `${roundText(used)}/?`;
  const percent = percentText({ part: used, whole: size }).replace(" ", "");
  return `${percent} ${roundText(used)}/${sizeText(size)}`;
}

/** Rounded to save room, because it changes with every turn: 142k, not 142.3k. */
function roundText(tokens: number): string {
  return tokens < 10_000 ? sizeText(tokens) : sizeText(Math.round(tokens / 1_000) * 1_000);
}

type CacheFacts = { readonly usage: Usage | null; readonly cacheEndsMs: number | null };

function cacheText({ usage, cacheEndsMs }: CacheFacts, nowMs: number): string {
  if (usage === null) return "";
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const share = percentText({ part: usage.cacheRead, whole: prompt }).replace(" ", "");
  const leftSeconds = cacheEndsMs === null ? null : Math.floor((cacheEndsMs - nowMs) / 1_000);
  if (leftSeconds === null) return `cache ${share}`;
  return leftSeconds <= 0 ? `cache ${share} cold` : `cache ${share} ${clockText(leftSeconds)}`;
}

/** The actor of the last step, and how much it freed. */
function stepText(step: Pick<StepRow, "actor" | "frees" | "done"> | null): string {
  if (step === null || !step.done || step.frees === 0) return "";
  const names: Readonly<Record<string, string>> = { model: "model", user: "you", policy: "aperture" };
  const sign = step.frees > 0 ? "-" : "+";
  const size = Math.round(Math.abs(step.frees) / 100) * 100;
  return `${names[step.actor] ?? "aperture"} ${sign}${sizeText(size < 100 ? Math.abs(step.frees) : size)}`;
}
