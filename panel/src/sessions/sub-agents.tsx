import { useState } from "react";
import type { RouteAnswers, StreamDetail } from "../api/contract.ts";
import { useLater } from "../api/resource.ts";
import { contextRoute } from "../base/paths.ts";
import { manyText, windowText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";
import { MiniStrip } from "../strip/mini-strip.tsx";
import { leadsTo } from "./leads-to.ts";

/** Those that are seen at once; a session may have had very many. */
const seenMax = 4;

/** The streams of a session that are not its main one: each has a window of its own to look at. */
export function SubAgents({ session }: { readonly session: string }) {
  const { data } = useLater<RouteAnswers["SessionDetail"]>(sessionPath(session));
  const [isAll, setAll] = useState(false);
  const [main, ...others] = data?.streams ?? [];
  // The newest are those people look for.
  const newest = [...others].reverse();
  const seen = isAll ? newest : newest.slice(0, seenMax);
  return (
    <>
      <ul className="sub-agents" aria-label="Sub-agents">
        {seen.map((stream) => (
          <li key={stream.id}>
            <a {...leadsTo({ ...contextRoute(session), stream: stream.id })}>
              <span />
              <span className="sub-agent-name" title={stream.name}>
                {streamName(stream)}
              </span>
              <span className="sub-agent-window">
                <MiniStrip window={stream.window} />
                <span>{windowText(stream.window)}</span>
              </span>
              <span className="dim">
                {manyText(stream.turns, "turn")}
                {parentText(stream, main)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {others.length <= seenMax ? null : (
        <button
          type="button"
          className="button quiet small session-more"
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? "Fewer" : `All ${manyText(others.length, "sub-agent")}`}
        </button>
      )}
    </>
  );
}

/** By what it was asked; a name that only its client understands is the last resort. */
export function streamName({ title, name }: Pick<StreamDetail, "title" | "name">): string {
  return title ?? name;
}

function parentText({ parent }: StreamDetail, main: StreamDetail | undefined): string {
  return parent === null || parent === main?.id ? "" : `, of stream ${parent}`;
}
