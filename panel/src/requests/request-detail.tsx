import { useState } from "react";
import { readText, wordsOf } from "../api/client.ts";
import type { HealthAnswer, PricedRequest, PricedRequestDetail, RouteAnswers } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { useCommands } from "../base/commands.ts";
import { copyText } from "../base/copy.ts";
import { type RequestTab, requestTabs } from "../base/paths.ts";
import { clockText } from "../base/words.ts";
import { sessionPath } from "../context/acts.ts";
import { Problem } from "../parts/problem.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { say, warn } from "../parts/toasts.tsx";
import { BodyView } from "./body-view.tsx";
import { curlText } from "./curl.ts";
import { DiffView } from "./diff-view.tsx";
import { FactsView } from "./facts-view.tsx";
import { ReplayView } from "./replay-view.tsx";
import { outcomeText, roleText } from "./row-words.ts";
import { useOnce } from "./use-once.ts";

export type RequestDetailProps = {
  readonly session: string;
  readonly exchange: number;
  readonly tab: RequestTab;
  /** Its row, as the list has it: what is open may still change there. */
  readonly row: PricedRequest | null;
  readonly onTab: (tab: RequestTab) => void;
  readonly onClose: () => void;
};

const titles: Readonly<Record<RequestTab, string>> = {
  diff: "Diff",
  client: "Client sent",
  upstream: "Upstream got",
  response: "Response",
  facts: "Headers",
};

/** One request: how it differs, its bodies, and what is known of it. */
export function RequestDetail({ session, exchange, tab, row, onTab, onClose }: RequestDetailProps) {
  const path = `${sessionPath(session)}/requests/${exchange}`;
  const { data, error } = useOnce<PricedRequestDetail>(path, `${row?.outcome}`);
  const [isPrevious, setPrevious] = useState(false);
  const [replayed, setReplayed] = useState<number | null>(null);
  const replay = (): void => {
    setReplayed(exchange);
    onTab("diff");
  };
  const compare = (): void => {
    setPrevious((before) => !before);
    onTab("diff");
  };
  useDetailCommands({ compare, replay, close: onClose });
  if (error !== null) return <Problem error={error} />;
  const request = row ?? data?.request ?? null;
  return (
    <section className="request-detail" aria-label={`Request ${exchange}`}>
      <header>
        <h2>Request {exchange}</h2>
        <span className="dim">{request === null ? "" : titleText(request)}</span>
        <span className="request-doings">
          {request === null ? null : <Doings {...{ session, path, request, exchange, replay }} />}
          <button type="button" className="button quiet" aria-label="Close the request" onClick={onClose}>
            ×
          </button>
        </span>
      </header>
      <div className="request-tabs">
        <Tabs names={requestTabs} chosen={tab} onChoose={onTab} label="Request" titles={titles} />
        {tab === "diff" ? (
          <label className="check">
            <input type="checkbox" checked={isPrevious} onChange={() => setPrevious((before) => !before)} />
            <span>
              Compare with the request before <kbd>d</kbd>
            </span>
          </label>
        ) : null}
      </div>
      <div className="request-body">
        {tab === "diff" && request !== null && replayed === exchange ? (
          <ReplayView path={path} row={request} />
        ) : null}
        {tab === "diff" && request !== null ? (
          <DiffView {...{ session, path, isPrevious }} row={request} />
        ) : null}
        {tab === "client" || tab === "upstream" || tab === "response" ? (
          <BodyView path={`${path}/${tab}`} label={titles[tab]} />
        ) : null}
        {tab === "facts" && data !== null ? <FactsView detail={data} /> : null}
      </div>
    </section>
  );
}

function titleText(request: PricedRequest): string {
  const time = request.time === null ? "" : clockText(request.time);
  return [roleText(request), request.model ?? "", outcomeText(request), time]
    .filter((each) => each !== "")
    .join(" · ");
}

type DoingsProps = {
  readonly session: string;
  readonly path: string;
  readonly request: PricedRequest;
  readonly exchange: number;
  readonly replay: () => void;
};

function Doings({ session, path, request, exchange, replay }: DoingsProps) {
  const { data: health } = useResource<HealthAnswer>("/health");
  const { data: detail } = useResource<RouteAnswers["SessionDetail"]>(sessionPath(session));
  const file = `request-${exchange}-upstream.json`;
  const copyCurl = async (): Promise<void> => {
    const upstream = health?.upstreams[detail?.session.upstream ?? ""] ?? "$UPSTREAM_URL";
    const body = await readText(`${path}/upstream`);
    const line = curlText({ target: request.target, upstream, body, file });
    if (await copyText(line)) say("Copied; the key is a variable of your shell");
    else warn("This browser does not let the panel copy: save the JSON instead");
  };
  const save = async (): Promise<void> => saveText(file, await readText(`${path}/upstream`));
  const tried = (doing: () => Promise<void>) => () =>
    void doing().catch((error: unknown) => warn(wordsOf(error)));
  return (
    <>
      <button type="button" className="button small" onClick={tried(copyCurl)}>
        Copy as curl
      </button>
      <button type="button" className="button small" onClick={tried(save)}>
        Save JSON
      </button>
      <button type="button" className="button small" title={replayAbout} onClick={replay}>
        Replay
      </button>
    </>
  );
}

const replayAbout =
  "What the strict model inside Aperture says to what went upstream: nothing is sent, no key is used";

/** Credentials were masked before anything was written down, so what is saved holds none. */
function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

type Doing = Readonly<Record<"compare" | "replay" | "close", () => void>>;

function useDetailCommands({ compare, replay, close }: Doing): void {
  const group = "Requests";
  useCommands([
    {
      id: "request-compare",
      title: "Compare with the request before",
      keys: ["d"],
      group,
      run: compare,
    },
    { id: "request-replay", title: "Replay against the strict model inside", keys: [], group, run: replay },
    { id: "request-close", title: "Close the request", keys: ["Escape"], group, run: close },
  ]);
}
