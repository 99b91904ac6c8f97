import type { PricedSession } from "../api/contract.ts";
import { contextRoute } from "../base/paths.ts";
import { agoText, manyText, spendText, tokensText, windowText } from "../base/words.ts";
import { outcomeText } from "../requests/row-words.ts";
import { MiniStrip } from "../strip/mini-strip.tsx";
import { leadsTo } from "./leads-to.ts";
import { SubAgents } from "./sub-agents.tsx";

export type SessionLineProps = {
  readonly row: PricedSession;
  readonly nowMs: number;
  readonly onManage: (row: PricedSession) => void;
};

/** One session: who runs it, how full it is, what it costs. Its sub-agents stand below it. */
export function SessionLine({ row, nowMs, onManage }: SessionLineProps) {
  return (
    <li className="session-item">
      <div className="session-line">
        <a className="session-row" {...leadsTo(contextRoute(row.id))}>
          <span className={`state-dot ${row.state}`} aria-hidden="true" />
          <span className="session-name">
            <b title={row.name}>{row.name}</b>
            <span className="dim">
              {row.client} · {row.model ?? "no model yet"} · {row.mode}
            </span>
          </span>
          <span className="session-window">
            <MiniStrip window={row.window} />
            <span>{windowText(row.window)}</span>
          </span>
          <span className="session-spend">
            {spendText(row.spend)} <span className="dim">in {manyText(row.requests, "request")}</span>
            <br />
            <span className="dim">{usageText(row)}</span>
          </span>
          <span className="session-when dim">
            <span className={row.state === "error" ? "bad" : ""} title={stateAbout(row)}>
              {stateText(row)}
            </span>
            <span>{agoText(row.lastActivity, nowMs)}</span>
          </span>
        </a>
        <button
          type="button"
          className="button quiet session-manage"
          aria-label={`Rename, export or delete ${row.name}`}
          title="Rename, export, delete"
          onClick={() => onManage(row)}
        >
          ⋯
        </button>
      </div>
      {row.streams < 2 ? null : <SubAgents session={row.id} />}
    </li>
  );
}

function stateText({ state, failed }: PricedSession): string {
  if (state === "active") return "live";
  return failed === null ? "idle" : `error ${failed.outcome === "complete" ? failed.status : ""}`.trim();
}

function stateAbout({ failed }: PricedSession): string | undefined {
  if (failed === null) return undefined;
  return `Request ${failed.exchange} got no whole answer: ${outcomeText(failed)}`;
}

function usageText({ usage: { input, cacheWrite, cacheRead, output } }: PricedSession): string {
  const read = `in ${tokensText(input + cacheWrite)} · cached ${tokensText(cacheRead)}`;
  return `${read} · out ${tokensText(output)}`;
}
