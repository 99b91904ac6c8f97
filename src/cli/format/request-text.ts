import type { PricedRequest, PricedRequestDetail } from "../../control/index.ts";
import { bytesText, tokensText } from "./number-text.ts";
import { printable } from "./printable.ts";
import { type LabelledLine, rewriteLines } from "./rewrite-text.ts";
import { durationText, timeText } from "./time-text.ts";

/** The known facts about one request, a line each. */
export function requestLines(detail: PricedRequestDetail, nowMs: number): readonly LabelledLine[] {
  const { request, bodies, identical, attempts } = detail;
  const lines: readonly (LabelledLine | null)[] = [
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
    ...bodies.map(({ side, length }): LabelledLine => [side, bytesText(length)]),
    ["relayed", relayedText(identical)],
    attempts.length < 2
      ? null
      : ["attempts", attempts.map(({ id, outcome }) => `${id} ${outcome}`).join(", ")],
    request.problem === null ? null : ["problem", printable(request.problem, 300)],
  ];
  return lines.filter((line) => line !== null);
}

const renderingText: Readonly<Record<PricedRequest["rendering"], string>> = {
  raw: "raw: unchanged",
  managed: "managed: rendered by Aperture, with its notes",
  plain: "plain: the client's request without content that must not be sent",
};

function roleText({ role, relation, of, turn }: PricedRequest): string {
  const number = turn === null ? "" : ` ${turn}`;
  const to = of === null ? "" : ` of request ${of}`;
  return `${role}${number}${relation === "none" ? "" : `, ${relation}${to}`}`;
}

function usageLine({ usage }: PricedRequest): LabelledLine | null {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, output } = usage;
  const prompt = tokensText(input + cacheRead + cacheWrite);
  const cache = `${tokensText(cacheRead)} from cache, ${tokensText(cacheWrite)} written to it`;
  return ["tokens", `${prompt} in (${cache}), ${tokensText(output)} out`];
}

function timingLine({ firstByteMs, totalMs }: PricedRequest): LabelledLine | null {
  if (totalMs === null) return null;
  const first = firstByteMs === null ? "" : `, first byte after ${durationText(firstByteMs)}`;
  return ["took", `${durationText(totalMs)}${first}`];
}

function relayedText({ request, response }: PricedRequestDetail["identical"]): string {
  const side = (isSame: boolean) => (isSame ? "unchanged" : "changed");
  return `request ${side(request)}, response ${side(response)}`;
}
