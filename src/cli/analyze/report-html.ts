import type { Totals } from "../../analysis/index.ts";
import { pluralText, tokensText } from "../format/number-text.ts";
import { growthSections } from "./growth-html.ts";
import {
  escapeHtml,
  type HtmlTile,
  htmlDetails,
  htmlLegend,
  htmlSection,
  htmlTable,
  htmlTiles,
} from "./html-parts.ts";
import { kindColours, style } from "./html-style.ts";
import {
  type BlockLife,
  halfPage,
  type SessionBalance,
  svgBalances,
  svgBars,
  svgLives,
  svgStrip,
} from "./svg.ts";
import {
  daysText,
  hasUsage,
  isManagedToday,
  kindNames,
  notManagedText,
  savedShare,
  savedText,
  shareText,
  type UsageReport,
  usdText,
} from "./usage-report.ts";

/** A self-contained page: no scripts, no fonts, no external images. */
export function htmlReport(report: UsageReport, version: string): string {
  const body = [
    headPart(report),
    fillPart(report),
    ...growthSections(report.sessions),
    repeatPart(report.totals),
    idlePart(report),
    spentPart(report.totals),
    savedPart(report),
    methodPart(report),
    `<footer>Written by Aperture ${escapeHtml(version)} from transcripts on this machine. This page loads nothing and sends nothing.</footer>`,
  ];
  const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<title>What fills these context windows</title><style>${style}</style></head><body><main>`,
    ...body,
    "</main></body></html>\n",
  ].join("\n");
}

function headPart({ totals, sessions, leftOut }: UsageReport): string {
  const { requests, agents } = totals;
  const facts = [
    pluralText(totals.sessions, "session"),
    pluralText(requests, "request"),
    ...(agents === 0 ? [] : [pluralText(agents, "agent")]),
    daysText(totals),
    ...(leftOut === 0 ? [] : [`${leftOut} older sessions left out`]),
  ];
  const lead = escapeHtml(facts.filter((fact) => fact !== "").join(" · "));
  return `<h1>What fills these context windows</h1><p class="lead">${lead}</p>${htmlTiles(tilesOf(totals, notManagedText(sessions) !== null))}`;
}

function tilesOf({ idle, repeats, spent, simulated }: Totals, isAsIf: boolean): readonly HtmlTile[] {
  const share = savedShare(simulated);
  const saved = simulated.usd.asSent === null ? "" : ` (${usdText(simulated.usd.asSent)} of input as sent)`;
  return [
    {
      figure: shareText(idle.idleCarried, idle.carried),
      caption: "of the tokens spent on tool results were sent again after their last use",
    },
    {
      figure: shareText(repeats.seenTokens, repeats.resultTokens),
      caption: "of tool output repeats an earlier result",
    },
    spent.usd === null || !hasUsage(spent)
      ? {
          figure: tokensText(spent.input + spent.cacheRead + spent.cacheWrite),
          caption: "prompt tokens reported",
        }
      : { figure: usdText(spent.usd), caption: "spent, by reported usage and list prices" },
    {
      figure: savedText(share),
      caption: `with Aperture: simulated, misses charged${isAsIf ? ", as if every client were managed" : ""}${saved}`,
      mood: share >= 0 ? "good" : "bad",
    },
  ];
}

function fillPart({ totals }: UsageReport): string {
  const rows = kindNames.flatMap(([kind, caption]) => {
    const weight = totals.kinds[kind];
    return weight === undefined ? [] : [{ caption, colour: kindColours[kind] ?? "#888", ...weight }];
  });
  const whole = rows.reduce((sum, { carried }) => sum + carried, 0);
  const slices = rows.map(({ caption, colour, carried, written }) => ({
    caption,
    colour,
    value: carried,
    note: `~${tokensText(carried)} over all requests, counted once ~${tokensText(written)}`,
  }));
  const columns = [
    { title: "kind" },
    { title: "over all requests", isNumber: true },
    { title: "share", isNumber: true },
    { title: "counted once", isNumber: true },
  ] as const;
  const cells = rows.map(({ caption, carried, written }) => [
    caption,
    `~${tokensText(carried)}`,
    shareText(carried, whole),
    `~${tokensText(written)}`,
  ]);
  const named = (rowsOf: Totals["tools"], caption: string): string =>
    svgBars(
      rowsOf.slice(0, 10).map(({ name, carried }) => ({
        caption: name,
        value: carried,
        note: `${shareText(carried, whole)}  ~${tokensText(carried)}`,
      })),
      caption,
      halfPage,
    );
  return htmlSection(
    "What fills them",
    "Tokens summed over all requests: content that is sent with every request counts every time.",
    [
      svgStrip(slices, "Shares of all tokens sent, by kind"),
      htmlLegend(
        rows.map(({ colour, caption, carried }) => ({
          colour,
          caption: `${caption} ${shareText(carried, whole)}`,
        })),
      ),
      htmlDetails("As a table", htmlTable(columns, cells)),
      '<div class="pair">',
      `<div><h3>By tool</h3>${named(totals.tools, "Tokens sent, by tool")}</div>`,
      `<div><h3>By file</h3>${named(totals.files, "Tokens sent, by file")}</div>`,
      "</div>",
    ],
  );
}

function repeatPart({ repeats }: Totals): string {
  const { calls, seenTokens, resultTokens } = repeats;
  const sizes = `~${tokensText(seenTokens)} of ~${tokensText(resultTokens)} tokens`;
  const share = shareText(seenTokens, resultTokens);
  const text = `${share} of tool output (${sizes}) repeats lines of an earlier result in the same conversation.`;
  const columns = [
    { title: "repeated call" },
    { title: "times", isNumber: true },
    { title: "repeated tokens", isNumber: true },
  ] as const;
  const rows = calls
    .slice(0, 12)
    .map(({ label, times, tokens }) => [label, `${times}`, `~${tokensText(tokens)}`]);
  return htmlSection("What repeats", text, rows.length === 0 ? [] : [htmlTable(columns, rows)]);
}

function idlePart({ totals: { idle }, sessions }: UsageReport): string {
  const text = `No answer used ${idle.neverUsed} of ${idle.results} results; the others stayed after their last use. The largest, each over the length of its session:`;
  const rows = sessions
    .flatMap((session) => session.contents.idle.blocks.map((block) => ({ ...block, session })))
    .sort((a, b) => b.tokens * b.idlePrompts - a.tokens * a.idlePrompts)
    .slice(0, 12);
  const drawn = rows.map(({ label, tokens, arrived, usedAt, idlePrompts, session }): BlockLife => {
    const whole = Math.max(1, session.requests);
    const last = usedAt ?? arrived;
    return {
      caption: label,
      note: `~${tokensText(tokens)}, ${usedAt === null ? "never used" : "idle"} for ${pluralText(idlePrompts, "request")}`,
      from: (arrived - 1) / whole,
      used: usedAt === null ? (arrived - 1) / whole : usedAt / whole,
      to: Math.min(1, (last + idlePrompts) / whole),
    };
  });
  const key = htmlLegend([
    { colour: "var(--accent)", caption: "until its last use" },
    { colour: "var(--idle)", caption: "carried without use" },
  ]);
  return htmlSection(
    "What was never used again",
    text,
    drawn.length === 0 ? [] : [svgLives(drawn, "Blocks over the time they were carried"), key],
  );
}

function spentPart({ spent }: Totals): string {
  const { uncounted, unpriced, usd } = spent;
  if (!hasUsage(spent)) return htmlSection("What it cost", "These transcripts report no usage.", []);
  const rows = [
    { caption: "read from cache", value: spent.cacheRead, colour: "#009e73" },
    { caption: "written to cache", value: spent.cacheWrite, colour: "#e69f00" },
    { caption: "other input", value: spent.input, colour: "#0072b2" },
    { caption: "output", value: spent.output, colour: "#cc79a7" },
  ];
  const slices = rows.map((row) => ({ ...row, note: tokensText(row.value) }));
  const remarks = [
    usd === null
      ? "The prices of these models are not known, so this shows tokens only."
      : `${usdText(usd)} by list prices.`,
    ...(unpriced === 0 || usd === null
      ? []
      : [`${unpriced} requests went to models without a known price and are not included.`]),
    ...(uncounted === 0 ? [] : [`${uncounted} requests have no reported usage.`]),
  ];
  const key = rows.map(({ colour, caption, value }) => ({
    colour,
    caption: `${caption} ${tokensText(value)}`,
  }));
  return htmlSection("What it cost", `As the provider reported it. ${remarks.join(" ")}`, [
    svgStrip(slices, "Reported tokens by how they are charged"),
    htmlLegend(key),
  ]);
}

function savedPart({ totals: { simulated, requests }, sessions }: UsageReport): string {
  const { asSent, charged, usd, misses, promptTokens } = simulated;
  const money = (of: number | null): string => (of === null ? "" : `  ${usdText(of)}`);
  const both = svgBars(
    [
      {
        caption: "As sent",
        value: asSent,
        note: `~${tokensText(Math.round(asSent))} uncached input tokens${money(usd.asSent)}`,
        colour: "#e69f00",
      },
      {
        caption: "With Aperture, misses charged",
        value: charged,
        note: `~${tokensText(Math.round(charged))}${money(usd.charged)}`,
        colour: "#009e73",
      },
    ],
    "Simulated cost of all input, as sent and with Aperture",
  );
  const shown = [...sessions].sort((a, b) => b.simulated.asSent - a.simulated.asSent).slice(0, 30);
  const each = shown.map((session): SessionBalance => {
    const share = savedShare(session.simulated);
    const asIf = isManagedToday(session.client) ? "" : ", if managed";
    return { caption: `${session.client} ${session.id}`, share, note: `${savedText(share)}${asIf}` };
  });
  const asIf = notManagedText(sessions);
  const sent = shareText(promptTokens.managed, promptTokens.asSent);
  const missed = `${misses} of ${requests} answers would have missed a name, and are charged for it`;
  const text = `A simulation. Aperture would have sent ${sent} of the tokens; ${missed}. Short sessions cost slightly more: notes to the model take tokens, and there is nothing to leave out yet.${asIf === null ? "" : ` ${asIf}`}`;
  return htmlSection("What Aperture would have saved", text, [
    both,
    "<h3>By session, the most expensive first</h3>",
    svgBalances(each, "Share saved in each session"),
  ]);
}

function methodPart({ method, problems }: UsageReport): string {
  const list = method.map((text) => `<li>${escapeHtml(text)}</li>`).join("");
  const columns = [{ title: "file" }, { title: "problem" }, { title: "count", isNumber: true }] as const;
  const rows = problems
    .slice(0, 100)
    .map(({ file, problem, count, line }) => [
      file,
      line === null ? problem : `${problem}, first in line ${line}`,
      `${count}`,
    ]);
  const unread = rows.length === 0 ? "" : `<h3>What could not be read</h3>${htmlTable(columns, rows)}`;
  return htmlSection("How this was counted", "", [`<ul>${list}</ul>`, unread]);
}
