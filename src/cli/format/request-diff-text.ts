import type { RouteAnswers } from "../../control/index.ts";
import { bytesText, pluralText, tokensText } from "./number-text.ts";
import type { Paint, Style } from "./paint.ts";
import { printable } from "./printable.ts";

type RequestDiffData = RouteAnswers["RequestDiff"];
type RequestDiffRow = RequestDiffData["rows"][number];
type RequestDiffChange = Extract<RequestDiffRow, { readonly before: object | null }>;

const textColumns = 96;

/** The difference between the client's request and the upstream request, for a terminal. */
export function requestDiffLines(diff: RequestDiffData, paint: Paint): readonly string[] {
  return [...headLines(diff), "", ...diff.rows.flatMap((row) => rowLines(row, paint)), ...endLines(diff)];
}

function headLines(diff: RequestDiffData): readonly string[] {
  const { bytes, tokens, cache, addedMs, upstreamId, firstChange, with: other } = diff;
  const against = other === null ? "what the client sent" : `request ${other}`;
  const counted = tokens.reported === null ? "not reported" : `${tokensText(tokens.reported)} reported`;
  const first =
    firstChange === null ? [] : [`first change at byte ${firstChange.byte}${atBlock(firstChange.block)}`];
  const read =
    cache === null ? [] : [`cache ${tokensText(cache.read)} read, ${tokensText(cache.write)} written`];
  const added = addedMs === null ? [] : [`added ${addedMs.toFixed(1)} ms`];
  const named = upstreamId === null ? [] : [`upstream ${printable(upstreamId, 60)}`];
  return [
    `request ${diff.exchange} against ${against}: ${verdict(diff)}`,
    [`${bytesText(bytes.before)} -> ${bytesText(bytes.after)}`, ...first].join("; "),
    [`~${tokensText(tokens.estimated)} tokens estimated, ${counted}`, ...read, ...added, ...named].join("; "),
  ];
}

function atBlock(block: number | null): string {
  return block === null ? "" : ` (#${block})`;
}

function verdict({ identical, totals, isRead }: RequestDiffData): string {
  if (identical) return "identical: 0 bytes changed";
  if (!isRead) return "different; the bodies could not be parsed";
  const { same, changed, inserted, removed } = totals;
  return `${same} identical, ${changed} changed, ${inserted} inserted, ${removed} left out`;
}

function rowLines(row: RequestDiffRow, paint: Paint): readonly string[] {
  switch (row.type) {
    case "same":
      return [paint("dim", `= ${sameText(row)}`)];
    case "mark":
      return [
        paint("cyan", `* cache mark${atBlock(row.block)}: ${row.before ?? "none"} -> ${row.after ?? "none"}`),
        ...reasonLines(row.reasons, paint),
      ];
    case "field":
      return [
        paint("cyan", `* ${printable(row.name, 40)}: ${shortText(row.before)} -> ${shortText(row.after)}`),
        ...reasonLines(row.reasons, paint),
      ];
    default:
      return changeLines(row, paint);
  }
}

function sameText({
  count,
  tokens,
  from,
  to,
  cached,
  reformed,
}: Extract<RequestDiffRow, { type: "same" }>): string {
  const blocks = from === null || to === null ? "" : from === to ? ` #${from}` : ` #${from}..#${to}`;
  const served = { all: ", cached prefix", some: ", partly cached", none: "" }[cached ?? "none"];
  const other = reformed === 0 ? "" : `, ${reformed} written as a list of blocks`;
  return `${pluralText(count, "block")} identical (~${tokensText(tokens)}${served}${other})${blocks}`;
}

const signs = { changed: "~", inserted: "+", removed: "-" } as const;
const colours: Readonly<Record<RequestDiffChange["type"], Style>> = {
  changed: "yellow",
  inserted: "green",
  removed: "red",
};

function changeLines(row: RequestDiffChange, paint: Paint): readonly string[] {
  const { type, role, kind, block, isOurs, tokens, before, after } = row;
  const who = isOurs ? "injected" : `${role} ${kind}`;
  const size =
    type === "changed" ? `~${tokensText(tokens.before)} -> ~${tokensText(tokens.after)}` : onlySize(row);
  const head = `${signs[type]} ${type === "removed" ? "left out" : type}${block === null ? "" : ` #${block}`} ${who}, ${size}`;
  return [
    paint(colours[type], head),
    ...(before === null ? [] : [`    - ${printable(before.text, textColumns)}`]),
    ...(after === null ? [] : [`    + ${printable(after.text, textColumns)}`]),
    ...reasonLines(row.reasons, paint),
  ];
}

function onlySize({ type, tokens }: RequestDiffChange): string {
  return `~${tokensText(type === "removed" ? tokens.before : tokens.after)}`;
}

function reasonLines(reasons: RequestDiffChange["reasons"], paint: Paint): readonly string[] {
  return reasons.map(({ words, seq, why }) => {
    const frame = seq === null ? "" : ` (seq ${seq}${why === null ? "" : `: ${printable(why, 80)}`})`;
    return paint("dim", `    ${printable(words, 200)}${frame}`);
  });
}

function shortText(text: string | null): string {
  return text === null ? "none" : printable(text, 40);
}

function endLines({ left }: RequestDiffData): readonly string[] {
  return left === 0 ? [] : [`and ${pluralText(left, "more row")}`];
}
