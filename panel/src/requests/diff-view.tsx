import { useMemo } from "react";
import type { PricedRequest, RouteAnswers } from "../api/contract.ts";
import { bytesText, formNames, pluralText, tokensText } from "../base/format.ts";
import { contextRoute, pathOf } from "../base/routes.ts";
import { DiffText } from "../components/diff-text.tsx";
import { ErrorPage } from "../components/error-page.tsx";
import { ScrollText } from "../components/scroll-text.tsx";
import { wordDiff } from "../components/word-diff.ts";
import { addedText } from "./request-text.ts";
import { useFetch } from "./use-fetch.ts";

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
  /** Compares with the previous request instead of the client's. */
  readonly isPrevious: boolean;
};

/** Compares the client's request with the upstream request, with a reason for every difference. */
export function DiffView({ session, path, row, isPrevious }: DiffViewProps) {
  const query = isPrevious ? "?with=previous" : "";
  const { data, error } = useFetch<Diff>(`${path}/diff${query}`, `${row.outcome}`);
  if (error !== null) return <ErrorPage error={error} />;
  if (data === null) return <p className="loading">Comparing…</p>;
  return (
    <section className="diff" aria-label="Differences">
      <Verdict diff={data} />
      <Figures diff={data} session={session} />
      <ol className="diff-rows">
        {data.rows.map((each, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of one diff keep their order.
          <DiffLine key={at} row={each} session={session} isFirst={data.firstChange?.row === at} />
        ))}
      </ol>
      {data.left === 0 ? null : <p className="dim">and {pluralText(data.left, "row")} more</p>}
    </section>
  );
}

function Verdict({ diff }: { readonly diff: Diff }) {
  const { identical, isRead, totals, with: other } = diff;
  const against = other === null ? "the client’s request" : `request ${other}`;
  if (identical) return <p className="verdict same">Unchanged: 0 bytes differ</p>;
  if (!isRead)
    return (
      <p className="verdict">
        Differs from {against}. The bodies are too large or in an unknown format, so there is no diff.
      </p>
    );
  const counts = [
    `${totals.same} unchanged (~${tokensText(totals.sameTokens)})`,
    totals.changed === 0 ? "" : `${totals.changed} changed`,
    totals.inserted === 0 ? "" : `${totals.inserted} inserted (~${tokensText(totals.insertedTokens)})`,
    totals.removed === 0 ? "" : `${totals.removed} removed (~${tokensText(totals.removedTokens)})`,
  ];
  return (
    <p className="verdict">
      Compared with {against}: {counts.filter((each) => each !== "").join(", ")}
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
      {addedMs === null ? null : <Figure name="added time">{addedText(addedMs)}</Figure>}
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
        {row.isOurs ? <span className="badge injected">added by Aperture</span> : null}
        {row.block === null ? null : <BlockLink session={session} block={row.block} />}
        <span className="dim">{detailText(row)}</span>
        {first}
      </span>
      <Reasons reasons={row.reasons} session={session} />
      <RowText row={row} />
    </li>
  );
}

const signs = { changed: "~", inserted: "+", removed: "−" } as const;
const verbs = { changed: "changed", inserted: "inserted", removed: "removed" } as const;

function sameText({ count, tokens, from, to, cached, reformed }: Same): string {
  const served = cached === "all" ? ", cached prefix" : cached === "some" ? ", partly cached" : "";
  const other = reformed === 0 ? "" : `, ${reformed} written as a list`;
  const blocks = from === null || to === null ? "" : from === to ? ` #${from}` : ` #${from}–#${to}`;
  return `${pluralText(count, "block")} unchanged (~${tokensText(tokens)}${served}${other})${blocks}`;
}

function smallTitle(row: Small): string {
  return row.type === "mark" ? "* cache mark" : `* ${row.name}`;
}

/** Names a changed unit: Aperture's own by their code, others by section, role and kind. */
function unitName({ isOurs, section, role, kind, reasons: [reason] }: Change): string {
  if (isOurs) return reason?.code ?? "own";
  if (section !== "messages") return section;
  return role === kind ? role : `${role} ${kind}`;
}

function detailText(row: Change): string {
  const { as, tokens, type } = row;
  const size =
    type === "changed"
      ? `~${tokensText(tokens.before)} → ~${tokensText(tokens.after)}`
      : `~${tokensText(type === "removed" ? tokens.before : tokens.after)}`;
  const shown = as === null || as === "original" ? "" : `, ${formNames[as]}`;
  return `${unitName(row)}${shown}, ${size}`;
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

/** Longer texts are folded. */
const unfoldedChars = 600;

function RowText({ row: { before, after, type, section } }: { readonly row: Change }) {
  const spans = useMemo(
    () => (before === null || after === null ? null : wordDiff(before.text, after.text)),
    [before, after],
  );
  const chars = (before?.text.length ?? 0) + (after?.text.length ?? 0);
  // Tools and instructions repeat in every request, so they stay folded.
  const isShort = chars <= unfoldedChars && section === "messages";
  const isCut = before?.isCut === true || after?.isCut === true;
  return (
    <details open={isShort || spans !== null}>
      <summary>{type === "changed" ? "Difference" : "Text"}</summary>
      {spans === null ? (
        <>
          {before === null ? null : (
            <ScrollText label="Before" className="removed">
              {before.text}
            </ScrollText>
          )}
          {after === null ? null : (
            <ScrollText label="After" className="added">
              {after.text}
            </ScrollText>
          )}
        </>
      ) : (
        <DiffText spans={spans} />
      )}
      {isCut ? <p className="dim">Only the start is shown; the tabs above have the whole body.</p> : null}
    </details>
  );
}
