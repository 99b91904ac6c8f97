import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import type {
  PricedApprovals,
  PricedSession,
  RouteAnswers,
  StreamDetail,
  ViewerEvent,
} from "../api/contract.ts";
import { useEvents } from "../api/live.ts";
import { refresh, useLater, useResource } from "../api/resource.ts";
import { useCommands } from "../base/commands.ts";
import type { Command } from "../base/keys.ts";
import { contextRoute, pathOf, type Route, requestsRoute, type SessionRoute } from "../base/paths.ts";
import { go } from "../base/route.ts";
import { blockList, manyText } from "../base/words.ts";
import { Activity } from "../context/activity.tsx";
import { type Mode, modeAbout, modes, redo, sessionPath } from "../context/acts.ts";
import { ModeDialog, useModeWish } from "../context/mode-dialog.tsx";
import { actorName, type Looked, stepsPath, useStepToasts, useUndoShown } from "../context/steps.ts";
import { say, warn } from "../parts/toasts.tsx";
import { SessionDialog } from "../sessions/session-dialog.tsx";
import { streamName } from "../sessions/sub-agents.tsx";
import { StatusBar } from "./status-bar.tsx";

export type SessionShellProps = {
  readonly route: SessionRoute;
  readonly children: ReactNode;
};

/** What is around every screen of one session. */
export function SessionShell({ route, children }: SessionShellProps) {
  const { session } = route;
  const path = sessionPath(session);
  const { data: detail } = useResource<RouteAnswers["SessionDetail"]>(path);
  const { data: approvals } = useLater<PricedApprovals>(`${path}/approvals`);
  const { data: steps } = useLater<RouteAnswers["StepsPage"]>(stepsPath(session));
  useEvents(
    session,
    useCallback((event) => onEvent(path, event), [path]),
  );
  const looked = { session, since: useFirst(detail?.seq ?? null), model: detail?.session.model ?? null };
  useStepToasts(looked, steps);
  const last = steps?.rows.findLast(({ done }) => done) ?? null;
  const undoShown = useUndoShown(session, last);
  useApprovalToasts(looked, approvals);
  const [isActivity, setActivity] = useState(false);
  const [isManaged, setManaged] = useState(false);
  const row = detail?.session ?? null;
  const { asked, setWanted } = useModeWish(session, row);
  // What is looked at there is over: nothing is done to it, and nothing to what it has become meanwhile.
  const isPast = route.screen === "context" && route.at !== null;
  useSessionCommands(session, {
    isPast,
    onUndo: undoShown,
    onActivity: () => setActivity(true),
    onMode: setWanted,
    onManage: () => setManaged(true),
  });
  return (
    <>
      <nav className="session-bar" aria-label="Session">
        <SessionTitle row={row} onManage={() => setManaged(true)} />
        <StreamChoice route={route} streams={detail?.streams ?? []} />
        <ul className="screen-tabs">
          <ScreenLink title="Context" route={contextRoute(session)} isHere={route.screen === "context"} />
          <ScreenLink title="Requests" route={requestsRoute(session)} isHere={route.screen === "requests"} />
          <ScreenLink
            title={`Approvals${approvals === null || approvals.waiting === 0 ? "" : ` (${approvals.waiting})`}`}
            route={{ screen: "approvals", session }}
            isHere={route.screen === "approvals"}
          />
        </ul>
        <ModeSwitch row={row} isPast={isPast} onMode={setWanted} />
      </nav>
      <main className="screen">{children}</main>
      <StatusBar
        session={session}
        row={row}
        last={last}
        waiting={approvals?.waiting ?? 0}
        isPast={isPast}
        onUndo={undoShown}
        onActivity={() => setActivity(true)}
      />
      {row === null || asked === null ? null : (
        <ModeDialog row={row} mode={asked} onClose={() => setWanted(null)} />
      )}
      {row === null || !isManaged ? null : (
        <SessionDialog
          row={row}
          onClose={() => setManaged(false)}
          onDeleted={() => go({ screen: "sessions" })}
        />
      )}
      {isActivity ? (
        <Activity session={session} model={row?.model ?? null} onClose={() => setActivity(false)} />
      ) : null}
    </>
  );
}

type SessionTitleProps = { readonly row: PricedSession | null; readonly onManage: () => void };

function SessionTitle({ row, onManage }: SessionTitleProps) {
  if (row === null) return <span className="session-title">…</span>;
  return (
    <span className="session-title">
      <b title={row.name}>{row.name}</b>
      <button
        type="button"
        className="button quiet small"
        aria-label="Rename, export or delete this session"
        title="Rename, export, delete"
        onClick={onManage}
      >
        ⋯
      </button>
      <span className="dim">
        {row.client} · {row.model ?? "no model yet"}
      </span>
    </span>
  );
}

type StreamChoiceProps = { readonly route: SessionRoute; readonly streams: readonly StreamDetail[] };

/** A session with sub-agents has a window for each of them. */
function StreamChoice({ route, streams }: StreamChoiceProps) {
  const [main] = streams;
  if (main === undefined || streams.length < 2 || route.screen !== "context") return null;
  return (
    <label>
      <span className="hidden-label">Stream</span>
      <select
        className="input stream-choice"
        value={route.stream ?? main.id}
        onChange={(event) => {
          const stream = Number(event.target.value);
          go({ ...contextRoute(route.session), stream: stream === main.id ? null : stream });
        }}
      >
        {streams.map((stream) => (
          <option key={stream.id} value={stream.id}>
            {stream === main ? "main" : `sub-agent: ${streamName(stream)}`} ({manyText(stream.turns, "turn")})
          </option>
        ))}
      </select>
    </label>
  );
}

/** What waits is said when it begins to wait, with the way to it. */
function useApprovalToasts({ session, since }: Looked, page: PricedApprovals | null): void {
  const said = useRef(0);
  useEffect(() => {
    if (page === null || since === null) return;
    for (const { approval, seq, actor, verb, blocks } of page.rows) {
      if (approval <= said.current || seq <= since) continue;
      said.current = approval;
      const what = blocks.length === 0 ? "" : ` ${blockList(blocks, 3)}`;
      say(`${actorName(actor, page.model)} asks to ${verb}${what}: it waits for you`, {
        title: "Review",
        run: () => go({ screen: "approvals", session }),
      });
    }
  }, [session, since, page]);
}

/** The first value there was. */
function useFirst<T>(value: T | null): T | null {
  const first = useRef<T | null>(null);
  first.current ??= value;
  return first.current;
}

type ScreenLinkProps = { readonly title: string; readonly route: Route; readonly isHere: boolean };

function ScreenLink({ title, route, isHere }: ScreenLinkProps) {
  return (
    <li>
      <a
        href={pathOf(route)}
        className={isHere ? "tab chosen" : "tab"}
        aria-current={isHere ? "page" : undefined}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          go(route);
        }}
      >
        {title}
      </a>
    </li>
  );
}

type ModeSwitchProps = {
  readonly row: PricedSession | null;
  readonly isPast: boolean;
  readonly onMode: (mode: Mode) => void;
};

function ModeSwitch({ row, isPast, onMode }: ModeSwitchProps) {
  const now = row?.mode ?? null;
  return (
    <fieldset className="mode" disabled={isPast} title={isPast ? "The past is read-only" : undefined}>
      <legend className="hidden-label">Mode of the session</legend>
      {modes.map((mode) => (
        <label key={mode} className={mode === now ? "chosen" : ""} title={modeAbout[mode]}>
          <input
            type="radio"
            name="mode"
            className="hidden-label"
            checked={mode === now}
            onChange={() => onMode(mode)}
          />
          {mode}
        </label>
      ))}
    </fieldset>
  );
}

function onEvent(path: string, event: ViewerEvent): void {
  if (event.type === "degraded") {
    if (event.storage === "degraded")
      warn(`Recording paused, requests still pass: ${event.message ?? "storage"}`);
    else say("Recording works again");
    refresh("/health");
    return;
  }
  // What policy does to blocks is a step, and announced as one; only what is no step is left to be said.
  if (event.type === "notice") {
    if (event.code !== null) say(event.message);
    return;
  }
  refresh(path);
}

type Doings = {
  readonly isPast: boolean;
  readonly onUndo: () => void;
  readonly onActivity: () => void;
  readonly onMode: (mode: Mode) => void;
  readonly onManage: () => void;
};

function useSessionCommands(session: string, doings: Doings): void {
  const { isPast, onUndo, onActivity, onMode, onManage } = doings;
  const places = [
    { id: "go-context", title: "Go to Context", keys: ["g c"], route: contextRoute(session) },
    { id: "go-requests", title: "Go to Requests", keys: ["g r"], route: requestsRoute(session) },
    {
      id: "go-approvals",
      title: "Go to Approvals",
      keys: ["g a"],
      route: { screen: "approvals", session } as const,
    },
  ];
  useCommands([
    ...places.map(({ route, ...place }) => ({ ...place, group: "Go", run: () => go(route) })),
    { id: "activity", title: "Activity", keys: ["g t"], group: "Go", run: onActivity },
    { id: "manage", title: "Rename, export or delete the session", keys: [], group: "Panel", run: onManage },
    ...(isPast ? [] : [...reversing(session, onUndo), ...switching(onMode)]),
  ]);
}

function reversing(session: string, onUndo: () => void): readonly Command[] {
  return [
    { id: "undo", title: "Undo the last step", keys: ["z"], group: "Undo", run: onUndo },
    { id: "redo", title: "Redo", keys: ["Shift+Z"], group: "Undo", run: () => void redo(session) },
  ];
}

function switching(onMode: (mode: Mode) => void): readonly Command[] {
  return modes.map((mode) => ({
    id: `mode-${mode}`,
    title: `Mode ${mode}: ${modeAbout[mode]}`,
    keys: [],
    group: "Mode",
    run: () => onMode(mode),
  }));
}
