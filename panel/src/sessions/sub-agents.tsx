import { useState } from "react";
import type { RouteAnswers, StreamDetail } from "../api/contract.ts";
import { useDeferredResource } from "../api/resource.ts";
import { pluralText, windowText } from "../base/format.ts";
import { linkTo } from "../base/link.ts";
import { contextRoute } from "../base/routes.ts";
import { sessionPath } from "../context/actions.ts";
import { MiniStrip } from "../strip/mini-strip.tsx";

/** The number of sub-agents shown before "All" is pressed. */
const shownMax = 4;

/** The streams of a session besides the main one, each with its own window. */
export function SubAgents({ session }: { readonly session: string }) {
  const { data } = useDeferredResource<RouteAnswers["SessionDetail"]>(sessionPath(session));
  const [isAll, setAll] = useState(false);
  const [main, ...others] = data?.streams ?? [];
  const newestFirst = [...others].reverse();
  const shown = isAll ? newestFirst : newestFirst.slice(0, shownMax);
  return (
    <>
      <ul className="sub-agents" aria-label="Sub-agents">
        {shown.map((stream) => (
          <li key={stream.id}>
            <a {...linkTo({ ...contextRoute(session), stream: stream.id })}>
              <span />
              <span className="sub-agent-name" title={stream.name}>
                {streamName(stream)}
              </span>
              <span className="sub-agent-window">
                <MiniStrip window={stream.window} />
                <span>{windowText(stream.window)}</span>
              </span>
              <span className="dim">
                {pluralText(stream.turns, "turn")}
                {parentText(stream, main)}
              </span>
            </a>
          </li>
        ))}
      </ul>
      {others.length <= shownMax ? null : (
        <button
          type="button"
          className="button quiet small session-more"
          aria-expanded={isAll}
          onClick={() => setAll(!isAll)}
        >
          {isAll ? "Show fewer" : `Show all ${pluralText(others.length, "sub-agent")}`}
        </button>
      )}
    </>
  );
}

/** The title from its first prompt, else the name the client gave it. */
export function streamName({ title, name }: Pick<StreamDetail, "title" | "name">): string {
  return title ?? name;
}

function parentText({ parent }: StreamDetail, main: StreamDetail | undefined): string {
  return parent === null || parent === main?.id ? "" : `, started by stream ${parent}`;
}
