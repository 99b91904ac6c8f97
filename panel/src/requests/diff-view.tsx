import { useMemo } from "react";
import type { PricedRequest, RouteAnswers } from "../api/contract.ts";
import { contextRoute, pathOf } from "../base/paths.ts";
import { bytesText, formWords, manyText, tokensText } from "../base/words.ts";
import { Problem } from "../parts/problem.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { Stretches } from "../parts/stretches.tsx";
import { wordDiff } from "../parts/word-diff.ts";
import { addedText } from "./row-words.ts";
import { useOnce } from "./use-once.ts";

type Diff = RouteAnswers["RequestDiff"];
type Row = Diff["rows"][number];
type Same = Extract<Row, { readonly type: "same" }>;
type Change = Extract<Row, { readonly type: "changed" | "inserted" | "removed" }>;
type Small = Extract<Row, { readonly type: "mark" | "field" }>;
type Reason = Change["reasons"][number];

export type DiffViewProps = {
  readonly session: string;
  readonly path: string;
  readonly row: PricedRequest;
  /** Whether it is compared with the request before instead of with what the client sent. */
  readonly isPrevious: boolean;
};

/** What the client sent against what went upstream, with a reason for every difference. */
export function DiffView({ session, path, row, isPrevious }: DiffViewProps) {
  const query = isPrevious ? "?with=previous" : "";
  const { data, error } = useOnce<Diff>(`${path}/diff${query}`, `${row.outcome}`);
  if (error !== null) return <Problem error={error} />;
  if (data === null) return <p className="loading">Comparing…</p>;
  return (
    <section className="diff" aria-label="Differences">
      <Verdict diff={data} />
      <Figures diff={data} session={session} />
      <ol className="diff-rows">
        {data.rows.map((each, at) => (
          // Rows of one answer never change their places.
          // biome-ignore lint/suspicious/noArrayIndexKey: the index is what a row is.
          <DiffLine key={at} row={each} session={session} isFirst={data.firstChange?.row === at} />
        ))}
      </ol>
      {data.left === 0 ? null : <p className="dim">and {manyText(data.left, "row")} more</p>}
    </section>
  );
}

function Verdict({ diff }: { readonly diff: Diff }) {
  const { identical, isRead, totals, with: other } = diff;
  const against = other === null ? "what the client sent" : `request ${other}`;
  if (identical) return <p className="verdict same">Identical: 0 bytes changed</p>;
  if (!isRead)
    return <p className="verdict">Different from {against}, and too large or too foreign to look into.</p>;
  const counts = [
    `${totals.same} the same (~${tokensText(totals.sameTokens)})`,
    totals.changed === 0 ? "" : `${totals.changed} changed`,
    totals.inserted === 0 ? "" : `${totals.inserted} inserted (~${tokensText(totals.insertedTokens)})`,
    totals.removed === 0 ? "" : `${totals.removed} left out (~${tokensText(totals.removedTokens)})`,
  ];
  return (
    <p className="verdict">
      Against {against}: {counts.filter((each) => each !== "").join(", ")}
    </p>
  );
}

function Figures({ diff, session }: { readonly diff: Diff; readonly session: string }) {
  const { bytes, tokens, cache, addedMs, upstreamId, firstChange } = diff;
  return (
    <dl className="figures">
      <Figure name="bytes">
        {bytesText(bytes.before)} → {bytesText(bytes.after)}
      </Figure>
      {firstChange === null ? null : (
        <Figure name="first change">
          byte {firstChange.byte.toLocaleString("en")}
          {firstChange.block === null ? "" : " at "}
          {firstChange.block === null ? null : <BlockLink session={session} block={firstChange.block} />}
        </Figure>
      )}
      <Figure name="tokens">
        ~{tokensText(tokens.estimated)} estimated,{" "}
        {tokens.reported === null ? "not reported" : `${tokensText(tokens.reported)} reported`}
      </Figure>
      {cache === null ? null : (
        <Figure name="cache">
          {tokensText(cache.read)} read, {tokensText(cache.write)} written
        </Figure>
      )}
      {addedMs === null ? null : <Figure name="added">{addedText(addedMs)}</Figure>}
      {upstreamId === null ? null : <Figure name="upstream id">{upstreamId}</Figure>}
    </dl>
  );
}

function Figure({ name, children }: { readonly name: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

type LineProps = { readonly row: Row; readonly session: string; readonly isFirst: boolean };

function DiffLine({ row, session, isFirst }: LineProps) {
  const first = isFirst ? <span className="badge first">first change</span> : null;
  if (row.type === "same") {
    return (
      <li className="diff-row same">
        <span aria-hidden="true">=</span> {sameText(row)} {first}
      </li>
    );
  }
  if (row.type === "mark" || row.type === "field") {
    return (
      <li className="diff-row small">
        <span className="diff-title">
          <b>{smallTitle(row)}</b>
          {row.type === "mark" && row.block !== null ? (
            <BlockLink session={session} block={row.block} />
          ) : null}
          <code>
            {row.before ?? "none"} → {row.after ?? "none"}
          </code>
          {first}
        </span>
        <Reasons reasons={row.reasons} session={session} />
      </li>
    );
  }
  return (
    <li className={`diff-row ${row.type}${row.isOurs ? " ours" : ""}`}>
      <span className="diff-title">
        <b>
          {signs[row.type]} {verbs[row.type]}
        </b>
        {row.isOurs ? <span className="badge injected">injected</span> : null}
        {row.block === null ? null : <BlockLink session={session} block={row.block} />}
        <span className="dim">{aboutText(row)}</span>
        {first}
      </span>
      <Reasons reasons={row.reasons} session={session} />
      <Words row={row} />
    </li>
  );
}

const signs = { changed: "~", inserted: "+", removed: "−" } as const;
const verbs = { changed: "changed", inserted: "inserted", removed: "left out" } as const;

function sameText({ count, tokens, from, to, cached, reformed }: Same): string {
  const served = cached === "all" ? ", cached prefix" : cached === "some" ? ", partly cached" : "";
  const other = reformed === 0 ? "" : `, ${reformed} written as a list of blocks`;
  const blocks = from === null || to === null ? "" : from === to ? ` #${from}` : ` #${from}–#${to}`;
  return `${manyText(count, "block")} identical (~${tokensText(tokens)}${served}${other})${blocks}`;
}

function smallTitle(row: Small): string {
  return row.type === "mark" ? "* cache mark" : `* ${row.name}`;
}

/** Most of what is ours is none of anybody's words: what it is says more than who seems to say it. */
function whatText({ isOurs, section, role, kind, reasons: [reason] }: Change): string {
  if (isOurs) return reason?.code ?? "own";
  if (section !== "messages") return section;
  return role === kind ? role : `${role} ${kind}`;
}

function aboutText(row: Change): string {
  const { as, tokens, type } = row;
  const size =
    type === "changed"
      ? `~${tokensText(tokens.before)} → ~${tokensText(tokens.after)}`
      : `~${tokensText(type === "removed" ? tokens.before : tokens.after)}`;
  const shown = as === null || as === "original" ? "" : `, ${formWords[as]}`;
  return `${whatText(row)}${shown}, ${size}`;
}

type BlockLinkProps = { readonly session: string; readonly block: number };

function BlockLink({ session, block }: BlockLinkProps) {
  return <a href={pathOf({ ...contextRoute(session), block })}>#{block}</a>;
}

type ReasonsProps = { readonly reasons: readonly Reason[]; readonly session: string };

function Reasons({ reasons, session }: ReasonsProps) {
  return (
    <ul className="reasons" aria-label="Why">
      {reasons.map(({ code, words, seq, why }) => (
        <li key={code}>
          {words}{" "}
          {seq === null ? null : (
            <a href={pathOf({ ...contextRoute(session), at: seq })}>
              seq {seq}
              {why === null ? "" : `: ${why}`}
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Longer ones are folded: most people want to see the rows first. */
const unfoldedChars = 600;

function Words({ row: { before, after, type, section } }: { readonly row: Change }) {
  const stretches = useMemo(
    () => (before === null || after === null ? null : wordDiff(before.text, after.text)),
    [before, after],
  );
  const chars = (before?.text.length ?? 0) + (after?.text.length ?? 0);
  // Tools and instructions are the same in every request.
  const isShort = chars <= unfoldedChars && section === "messages";
  const isCut = before?.isCut === true || after?.isCut === true;
  return (
    <details open={isShort || stretches !== null}>
      <summary>{type === "changed" ? "Words" : "Text"}</summary>
      {stretches === null ? (
        <>
          {before === null ? null : (
            <ScrollText label="What was there" className="left">
              {before.text}
            </ScrollText>
          )}
          {after === null ? null : (
            <ScrollText label="What is there" className="added">
              {after.text}
            </ScrollText>
          )}
        </>
      ) : (
        <Stretches stretches={stretches} />
      )}
      {isCut ? <p className="dim">The beginning; the tabs beside have all of it.</p> : null}
    </details>
  );
}
