import type { PricedSession } from "../api/contract.ts";
import { agoText, pluralText, spendText, tokensText, windowText } from "../base/format.ts";
import { linkTo } from "../base/link.ts";
import { contextRoute } from "../base/routes.ts";
import { outcomeText } from "../requests/request-text.ts";
import { MiniStrip } from "../strip/mini-strip.tsx";
import { SubAgents } from "./sub-agents.tsx";

export type SessionLineProps = {
  readonly row: PricedSession;
  readonly nowMs: number;
  readonly onManage: (row: PricedSession) => void;
};

/** One session: client, window, cost and state, with its sub-agents below. */
export function SessionLine({ row, nowMs, onManage }: SessionLineProps) {
  return (
    <li className="session-item">
      <div className="session-line">
        <a className="session-row" {...linkTo(contextRoute(row.id))}>
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
            {spendText(row.spend)} <span className="dim">in {pluralText(row.requests, "request")}</span>
            <br />
            <span className="dim">{usageText(row)}</span>
          </span>
          <span className="session-when dim">
            <span className={row.state === "error" ? "bad" : ""} title={failureText(row)}>
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

function failureText({ failed }: PricedSession): string | undefined {
  if (failed === null) return undefined;
  return `Request ${failed.exchange} got no complete response: ${outcomeText(failed)}`;
}

function usageText({ usage: { input, cacheWrite, cacheRead, output } }: PricedSession): string {
  const read = `in ${tokensText(input + cacheWrite)} · cached ${tokensText(cacheRead)}`;
  return `${read} · out ${tokensText(output)}`;
}
