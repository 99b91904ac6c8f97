import type { PricedDetail, PricedRow } from "../../control/index.ts";
import { bytesText, tokensText } from "./numbers.ts";
import { printable } from "./printable.ts";
import { rewriteLines } from "./rewrite.ts";
import { durationText, timeText } from "./times.ts";

type Line = readonly [label: string, text: string];

/** Everything known about one request, a line each; what is not known is left out. */
export function requestLines(detail: PricedDetail, nowMs: number): readonly Line[] {
  const { request, bodies, identical, attempts } = detail;
  const lines: readonly (Line | null)[] = [
    ["request", `${request.id} of session ${printable(detail.session).slice(0, 8)}`],
    ["id", printable(request.request, 80)],
    request.time === null ? null : ["time", timeText(request.time, nowMs)],
    ["target", printable(request.target, 120)],
    ["model", printable(request.model ?? "-", 60)],
    ["role", roleText(request)],
    ["sent", renderingText[request.rendering]],
    ["outcome", `${request.outcome}${request.status === null ? "" : `, status ${request.status}`}`],
    request.stop === null ? null : ["stopped", printable(request.stop, 60)],
    usageLine(request),
    ...(request.rewrite === null ? [] : rewriteLines(request.rewrite)),
    timingLine(request),
    ...bodies.map(({ side, length }): Line => [side, bytesText(length)]),
    ["passed on", passedText(identical)],
    attempts.length < 2
      ? null
      : ["attempts", attempts.map(({ id, outcome }) => `${id} ${outcome}`).join(", ")],
    request.problem === null ? null : ["problem", printable(request.problem, 300)],
  ];
  return lines.filter((line) => line !== null);
}

const renderingText: Readonly<Record<PricedRow["rendering"], string>> = {
  raw: "raw: as the client wrote it",
  managed: "managed: from our transcript, with our lines in it",
  plain: "plain: as the client wrote it, without what could not be sent",
};

function roleText({ role, relation, of, turn }: PricedRow): string {
  const place = turn === null ? "" : ` ${turn}`;
  const to = of === null ? "" : ` of request ${of}`;
  return `${role}${place}${relation === "none" ? "" : `, ${relation}${to}`}`;
}

function usageLine({ usage }: PricedRow): Line | null {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, output } = usage;
  const prompt = tokensText(input + cacheRead + cacheWrite);
  const cache = `${tokensText(cacheRead)} from cache, ${tokensText(cacheWrite)} written to it`;
  return ["tokens", `${prompt} in (${cache}), ${tokensText(output)} out`];
}

function timingLine({ firstByteMs, totalMs }: PricedRow): Line | null {
  if (totalMs === null) return null;
  const first = firstByteMs === null ? "" : `, first byte after ${durationText(firstByteMs)}`;
  return ["took", `${durationText(totalMs)}${first}`];
}

function passedText({ request, response }: PricedDetail["identical"]): string {
  const side = (isSame: boolean) => (isSame ? "unchanged" : "changed");
  return `request ${side(request)}, response ${side(response)}`;
}
