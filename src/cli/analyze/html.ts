import type { Totals } from "../../analysis/index.ts";
import { manyText, tokensText } from "../format/numbers.ts";
import { lineParts } from "./html-line.ts";
import { asTable, escaped, legend, part, type Tile, table, tiles } from "./html-parts.ts";
import { kindColours, style } from "./html-style.ts";
import {
  asIfText,
  daysText,
  isManagedToday,
  kindWords,
  type Report,
  savedShare,
  savedText,
  saysUsage,
  shareText,
  usdText,
} from "./report.ts";
import { type Balance, balances, bars, halfPage, type Life, lives, strip } from "./svg.ts";

/** One file that needs nothing else: no script, no font, no picture from anywhere. */
export function htmlReport(report: Report, version: string): string {
  const body = [
    headPart(report),
    fillPart(report),
    ...lineParts(report.sessions),
    repeatPart(report.totals),
    idlePart(report),
    spentPart(report.totals),
    savedPart(report),
    methodPart(report),
    `<footer>Written by Aperture ${escaped(version)} from transcripts on this machine. This page loads nothing and sends nothing.</footer>`,
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

function headPart({ totals, sessions, leftOut }: Report): string {
  const { requests, agents } = totals;
  const facts = [
    manyText(totals.sessions, "session"),
    manyText(requests, "request"),
    ...(agents === 0 ? [] : [manyText(agents, "agent")]),
    daysText(totals),
    ...(leftOut === 0 ? [] : [`${leftOut} older sessions left out`]),
  ];
  const lead = escaped(facts.filter((fact) => fact !== "").join(" · "));
  return `<h1>What fills these context windows</h1><p class="lead">${lead}</p>${tiles(tilesOf(totals, asIfText(sessions) !== null))}`;
}

function tilesOf({ idle, repeats, spent, simulated }: Totals, isAsIf: boolean): readonly Tile[] {
  const share = savedShare(simulated);
  const saved = simulated.usd.asSent === null ? "" : ` (${usdText(simulated.usd.asSent)} of input as sent)`;
  return [
    {
      figure: shareText(idle.idleCarried, idle.carried),
      words: "of the room that tool results took was taken after their last use",
    },
    {
      figure: shareText(repeats.seenTokens, repeats.resultTokens),
      words: "of what tools returned stood in an earlier result",
    },
    spent.usd === null || !saysUsage(spent)
      ? {
          figure: tokensText(spent.input + spent.cacheRead + spent.cacheWrite),
          words: "prompt tokens reported",
        }
      : { figure: usdText(spent.usd), words: "spent, by reported usage and list prices" },
    {
      figure: savedText(share),
      words: `with Aperture: simulated, misses charged${isAsIf ? ", every client as if managed" : ""}${saved}`,
      mood: share >= 0 ? "good" : "bad",
    },
  ];
}

function fillPart({ totals }: Report): string {
  const rows = kindWords.flatMap(([kind, words]) => {
    const weight = totals.kinds[kind];
    return weight === undefined ? [] : [{ words, colour: kindColours[kind] ?? "#888", ...weight }];
  });
  const whole = rows.reduce((sum, { carried }) => sum + carried, 0);
  const slices = rows.map(({ words, colour, carried, written }) => ({
    words,
    colour,
    value: carried,
    note: `~${tokensText(carried)} over all requests, written once ~${tokensText(written)}`,
  }));
  const columns = [
    { title: "kind" },
    { title: "over all requests", isNumber: true },
    { title: "share", isNumber: true },
    { title: "written once", isNumber: true },
  ] as const;
  const cells = rows.map(({ words, carried, written }) => [
    words,
    `~${tokensText(carried)}`,
    shareText(carried, whole),
    `~${tokensText(written)}`,
  ]);
  const named = (rowsOf: Totals["tools"], words: string): string =>
    bars(
      rowsOf.slice(0, 10).map(({ name, carried }) => ({
        words: name,
        value: carried,
        note: `${shareText(carried, whole)}  ~${tokensText(carried)}`,
      })),
      words,
      halfPage,
    );
  return part(
    "What fills them",
    "Tokens summed over all requests: what is sent again and again weighs again and again.",
    [
      strip(slices, "Shares of all tokens sent, by kind"),
      legend(
        rows.map(({ colour, words, carried }) => ({
          colour,
          words: `${words} ${shareText(carried, whole)}`,
        })),
      ),
      asTable("As a table", table(columns, cells)),
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
  const said = `${share} of what tools returned, ${sizes}, stood line by line in an earlier result of the same talk.`;
  const columns = [
    { title: "asked again" },
    { title: "times", isNumber: true },
    { title: "tokens again", isNumber: true },
  ] as const;
  const rows = calls
    .slice(0, 12)
    .map(({ label, times, tokens }) => [label, `${times}`, `~${tokensText(tokens)}`]);
  return part("What repeats", said, rows.length === 0 ? [] : [table(columns, rows)]);
}

function idlePart({ totals: { idle }, sessions }: Report): string {
  const said = `${idle.neverUsed} of ${idle.results} results were used by no answer at all; the others stayed after their last use. The largest, each over the length of its session:`;
  const rows = sessions
    .flatMap((session) => session.contents.idle.blocks.map((block) => ({ ...block, session })))
    .sort((a, b) => b.tokens * b.idlePrompts - a.tokens * a.idlePrompts)
    .slice(0, 12);
  const drawn = rows.map(({ label, tokens, arrived, usedAt, idlePrompts, session }): Life => {
    const whole = Math.max(1, session.requests);
    const last = usedAt ?? arrived;
    return {
      words: label,
      note: `~${tokensText(tokens)}, ${usedAt === null ? "never used" : "idle"} for ${manyText(idlePrompts, "request")}`,
      from: (arrived - 1) / whole,
      used: usedAt === null ? (arrived - 1) / whole : usedAt / whole,
      to: Math.min(1, (last + idlePrompts) / whole),
    };
  });
  const key = legend([
    { colour: "var(--accent)", words: "until an answer used it last" },
    { colour: "var(--idle)", words: "carried for nothing" },
  ]);
  return part(
    "What was never used again",
    said,
    drawn.length === 0 ? [] : [lives(drawn, "Blocks over the time they were carried"), key],
  );
}

function spentPart({ spent }: Totals): string {
  const { uncounted, unpriced, usd } = spent;
  if (!saysUsage(spent)) return part("What it cost", "These transcripts say nothing about usage.", []);
  const rows = [
    { words: "read from cache", value: spent.cacheRead, colour: "#009e73" },
    { words: "written to cache", value: spent.cacheWrite, colour: "#e69f00" },
    { words: "other input", value: spent.input, colour: "#0072b2" },
    { words: "output", value: spent.output, colour: "#cc79a7" },
  ];
  const slices = rows.map((row) => ({ ...row, note: tokensText(row.value) }));
  const remarks = [
    usd === null
      ? "Nobody has a price of these models, so this is in tokens only."
      : `${usdText(usd)} by list prices.`,
    ...(unpriced === 0 || usd === null
      ? []
      : [`${unpriced} requests went to models nobody has a price of and are not in it.`]),
    ...(uncounted === 0 ? [] : [`${uncounted} requests have no reported usage.`]),
  ];
  const key = rows.map(({ colour, words, value }) => ({ colour, words: `${words} ${tokensText(value)}` }));
  return part("What it cost", `As the provider reported it. ${remarks.join(" ")}`, [
    strip(slices, "Reported tokens by how they are charged"),
    legend(key),
  ]);
}

function savedPart({ totals: { simulated, requests }, sessions }: Report): string {
  const { asSent, charged, usd, misses, promptTokens } = simulated;
  const money = (of: number | null): string => (of === null ? "" : `  ${usdText(of)}`);
  const both = bars(
    [
      {
        words: "As sent",
        value: asSent,
        note: `~${tokensText(Math.round(asSent))} tokens of plain input${money(usd.asSent)}`,
        colour: "#e69f00",
      },
      {
        words: "With Aperture, misses charged",
        value: charged,
        note: `~${tokensText(Math.round(charged))}${money(usd.charged)}`,
        colour: "#009e73",
      },
    ],
    "Simulated cost of all input, as sent and with Aperture",
  );
  const shown = [...sessions].sort((a, b) => b.simulated.asSent - a.simulated.asSent).slice(0, 30);
  const each = shown.map((session): Balance => {
    const share = savedShare(session.simulated);
    const asIf = isManagedToday(session.client) ? "" : ", if managed";
    return { words: `${session.client} ${session.id}`, share, note: `${savedText(share)}${asIf}` };
  });
  const asIf = asIfText(sessions);
  const sent = shareText(promptTokens.managed, promptTokens.asSent);
  const missed = `${misses} of ${requests} answers would have missed a name and are charged for it`;
  const said = `A simulation. ${sent} of the tokens would have been sent; ${missed}. Short sessions cost a little more: telling the model about its context has a price, and there is nothing to leave out yet.${asIf === null ? "" : ` ${asIf}`}`;
  return part("What Aperture would have saved", said, [
    both,
    "<h3>By session, the most expensive first</h3>",
    balances(each, "Share saved in each session"),
  ]);
}

function methodPart({ method, problems }: Report): string {
  const list = method.map((text) => `<li>${escaped(text)}</li>`).join("");
  const columns = [{ title: "file" }, { title: "what" }, { title: "how often", isNumber: true }] as const;
  const rows = problems
    .slice(0, 100)
    .map(({ file, problem, count, line }) => [
      file,
      line === null ? problem : `${problem}, first in line ${line}`,
      `${count}`,
    ]);
  const unread = rows.length === 0 ? "" : `<h3>What could not be read</h3>${table(columns, rows)}`;
  return part("How this was counted", "", [`<ul>${list}</ul>`, unread]);
}
