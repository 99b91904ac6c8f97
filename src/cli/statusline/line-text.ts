import type { GlanceAnswer } from "../../control/index.ts";
import type { Usage } from "../../engine/index.ts";
import type { StepRow, WindowRow } from "../../session/index.ts";
import { percentText, sizeText } from "../format/numbers.ts";
import { printable } from "../format/printable.ts";
import { clockText } from "../format/times.ts";
import type { ClientFacts } from "./client-facts.ts";

/** What Aperture says; absent: it does not run; unknown: nothing of this session came through it. */
export type LineFacts = GlanceAnswer | "absent" | "unknown" | null;

/** `sonnet 71% 142k/200k | cache 94% 3:12 | $0.42 | Claude -6.2k`; what is not known is left out. */
export function lineText(client: ClientFacts, facts: LineFacts, nowMs: number): string {
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

function absenceText(facts: LineFacts): string {
  if (facts === "absent") return "aperture is not running";
  return facts === "unknown" ? "not through aperture yet" : "aperture";
}

/** `Claude Sonnet 4.5` as it is; of an id, what tells models apart. */
function modelText(model: string | null): string {
  return printable((model ?? "").replace(/^claude-/, "").replace(/-\d{8}$/, ""), 30);
}

/** Ours where it is known: it is the one the panel shows. */
function windowText(client: ClientFacts, ours: WindowRow | null): string {
  const known = ours !== null && ours.used > 0 ? ours : null;
  const size = known?.size ?? client.window?.size ?? null;
  const used = known?.used ?? client.window?.used ?? null;
  if (used === null) return "";
  if (size === null) return `${roundText(used)}/?`;
  const percent = percentText({ part: used, whole: size }).replace(" ", "");
  return `${percent} ${roundText(used)}/${sizeText(size)}`;
}

/** There is little room, and it changes with every turn: 142k, not 142.3k. */
function roundText(tokens: number): string {
  return tokens < 10_000 ? sizeText(tokens) : sizeText(Math.round(tokens / 1_000) * 1_000);
}

type Cached = { readonly usage: Usage | null; readonly cacheEndsMs: number | null };

function cacheText({ usage, cacheEndsMs }: Cached, nowMs: number): string {
  if (usage === null) return "";
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const share = percentText({ part: usage.cacheRead, whole: prompt }).replace(" ", "");
  const leftSeconds = cacheEndsMs === null ? null : Math.floor((cacheEndsMs - nowMs) / 1_000);
  if (leftSeconds === null) return `cache ${share}`;
  return leftSeconds <= 0 ? `cache ${share} cold` : `cache ${share} ${clockText(leftSeconds)}`;
}

/** Who freed something last, and how much. */
function stepText(step: Pick<StepRow, "actor" | "frees" | "done"> | null): string {
  if (step === null || !step.done || step.frees === 0) return "";
  const names: Readonly<Record<string, string>> = { model: "model", user: "you", policy: "aperture" };
  const sign = step.frees > 0 ? "-" : "+";
  const size = Math.round(Math.abs(step.frees) / 100) * 100;
  return `${names[step.actor] ?? "aperture"} ${sign}${sizeText(size < 100 ? Math.abs(step.frees) : size)}`;
}
