import type { SessionReport } from "../../analysis/index.ts";
import { sizeText, tokensText } from "../format/number-text.ts";
import { htmlDetails, htmlLegend, htmlSection, htmlTable } from "./html-parts.ts";
import { kindColours } from "./html-style.ts";
import { svgAreas } from "./svg.ts";
import { kindNames } from "./usage-report.ts";

const shownMax = 3;
const pointsMin = 8;

/** The largest sessions as they grew, and how large they would have been. */
export function growthSections(sessions: readonly SessionReport[]): readonly string[] {
  const long = sessions
    .filter(({ line }) => line.length >= pointsMin)
    .sort((a, b) => b.simulated.promptTokens.asSent - a.simulated.promptTokens.asSent)
    .slice(0, shownMax);
  if (long.length === 0) return [];
  const rule = '<li><i class="rule"></i>with Aperture</li>';
  const colours = kindNames.map(([kind, caption]) => ({ colour: kindColours[kind] ?? "#888", caption }));
  const remark =
    "The largest sessions, request by request: the content of each prompt as it was sent, and its size with Aperture.";
  return [htmlSection("How they grow", remark, [htmlLegend(colours, rule), ...long.map(growthChart)])];
}

function growthChart(session: SessionReport): string {
  const { line, client, id, model, requests } = session;
  const layers = [...kindNames].reverse().map(([kind]) => ({
    colour: kindColours[kind] ?? "#888",
    values: line.map(({ kinds }) => kinds[kind] ?? 0),
  }));
  const last = line.at(-1);
  const peak = line.reduce((most, { asSent }) => Math.max(most, asSent), 0);
  const caption = `Size of the prompts of ${client} ${id}, at most ~${tokensText(Math.round(peak))} tokens`;
  const drawn = svgAreas({
    layers,
    line: line.map(({ managed }) => managed),
    ends: ["request 1", `request ${last?.request ?? requests}`],
    tickText: (value) => sizeText(Math.round(value)),
    caption,
  });
  const step = Math.max(1, Math.ceil(line.length / 12));
  const rows = line
    .filter((_, at) => at % step === 0 || at === line.length - 1)
    .map(({ request, asSent, managed }) => [
      `${request}`,
      `~${tokensText(Math.round(asSent))}`,
      `~${tokensText(Math.round(managed))}`,
    ]);
  const columns = [
    { title: "request", isNumber: true },
    { title: "as sent", isNumber: true },
    { title: "with Aperture", isNumber: true },
  ] as const;
  return `<h3>${escapedTitle(client, id, model)}</h3>${drawn}${htmlDetails("As a table", htmlTable(columns, rows))}`;
}

function escapedTitle(client: string, id: string, model: string): string {
  return [client, id, model].map((word) => word.replace(/[^\w.:@ /-]/g, "")).join(" · ");
}
