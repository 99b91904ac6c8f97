import { type MouseEvent, useState } from "react";
import type { PricedSession, Returned, StreamRow } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { type ContextRoute, contextRoute, pathOf } from "../base/paths.ts";
import { go } from "../base/route.ts";
import { agoText, manyText, spendText, tokensText, windowText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";
import { MiniStrip } from "../strip/mini-strip.tsx";

export type SessionLineProps = { readonly row: PricedSession; readonly nowMs: number };

/** One session: who runs it, how full it is, what it costs. Its sub-agents are folded below it. */
export function SessionLine({ row, nowMs }: SessionLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { usage } = row;
  const others = row.streams - 1;
  return (
    <li className="session-item">
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
          <span className="dim">
            in {tokensText(usage.input + usage.cacheWrite)} · cached {tokensText(usage.cacheRead)} · out{" "}
            {tokensText(usage.output)}
          </span>
        </span>
        <span className="session-when dim">
          {row.state === "active" ? "live" : "idle"}
          <br />
          {agoText(row.lastActivity, nowMs)}
        </span>
      </a>
      {others < 1 ? null : (
        <button
          type="button"
          className="button quiet small session-more"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "▾" : "▸"} {manyText(others, "sub-agent")}
        </button>
      )}
      {isOpen ? <SubAgents session={row.id} /> : null}
    </li>
  );
}

function SubAgents({ session }: { readonly session: string }) {
  const { data } = useResource<Returned["SessionDetail"]>(sessionPath(session));
  const [main, ...others] = data?.streams ?? [];
  return (
    <ul className="sub-agents">
      {others.map((stream) => (
        <li key={stream.id}>
          <a {...leadsTo({ ...contextRoute(session), stream: stream.id })}>{stream.name}</a>{" "}
          <span className="dim">
            {manyText(stream.turns, "turn")}
            {parentText(stream, main)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function parentText({ parent }: StreamRow, main: StreamRow | undefined): string {
  if (parent === null) return "";
  return parent === main?.id ? ", of the main stream" : `, of stream ${parent}`;
}

function leadsTo(route: ContextRoute) {
  return {
    href: pathOf(route),
    onClick: (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      go(route);
    },
  };
}
