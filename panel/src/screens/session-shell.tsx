import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import type {
  PricedApprovals,
  PricedSession,
  RouteAnswers,
  StreamDetail,
  ViewerEvent,
} from "../api/contract.ts";
import { useEvents } from "../api/events.ts";
import { refresh, useDeferredResource, useResource } from "../api/resource.ts";
import { useCommands } from "../base/commands.ts";
import { blockList, pluralText } from "../base/format.ts";
import type { Command } from "../base/keys.ts";
import { linkTo } from "../base/link.ts";
import { go } from "../base/navigation.ts";
import { contextRoute, type Route, requestsRoute, type SessionRoute } from "../base/routes.ts";
import { showError, showToast } from "../components/toasts.tsx";
import { type Mode, modeDescriptions, modes, redo, sessionPath } from "../context/actions.ts";
import { Activity } from "../context/activity.tsx";
import { ModeDialog, useModeSwitch } from "../context/mode-dialog.tsx";
import { actorName, type SessionWatch, stepsPath, useStepToasts, useUndoLastStep } from "../context/steps.ts";
import { SessionDialog } from "../sessions/session-dialog.tsx";
import { streamName } from "../sessions/sub-agents.tsx";
import { StatusBar } from "./status-bar.tsx";

export type SessionShellProps = {
  readonly route: SessionRoute;
  readonly children: ReactNode;
};

/** The frame around every screen of a session: title, tabs, mode and status bar. */
export function SessionShell({ route, children }: SessionShellProps) {
  const { session } = route;
  const path = sessionPath(session);
  const { data: detail } = useResource<RouteAnswers["SessionDetail"]>(path);
  const { data: approvals } = useDeferredResource<PricedApprovals>(`${path}/approvals`);
  const { data: steps } = useDeferredResource<RouteAnswers["StepsPage"]>(stepsPath(session));
  useEvents(
    session,
    useCallback((event) => onEvent(path, event), [path]),
  );
  const watch = { session, since: useFirst(detail?.seq ?? null), model: detail?.session.model ?? null };
  useStepToasts(watch, steps);
  const last = steps?.rows.findLast(({ done }) => done) ?? null;
  const undoLast = useUndoLastStep(session, last);
  useApprovalToasts(watch, approvals);
  const [isActivityOpen, setActivityOpen] = useState(false);
  const [isManageOpen, setManageOpen] = useState(false);
  const row = detail?.session ?? null;
  const { confirming, setNewMode } = useModeSwitch(session, row);
  // An earlier seq is read-only, and its screen must not change the present either.
  const isPast = route.screen === "context" && route.at !== null;
  useSessionCommands(session, {
    isPast,
    onUndo: undoLast,
    onActivity: () => setActivityOpen(true),
    onMode: setNewMode,
    onManage: () => setManageOpen(true),
  });
  return (
    <>
      <nav className="session-bar" aria-label="Session">
        <SessionTitle row={row} onManage={() => setManageOpen(true)} />
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
        <ModeSwitch row={row} isPast={isPast} onMode={setNewMode} />
      </nav>
      <main className="screen">{children}</main>
      <StatusBar
        session={session}
        row={row}
        last={last}
        waiting={approvals?.waiting ?? 0}
        isPast={isPast}
        onUndo={undoLast}
        onActivity={() => setActivityOpen(true)}
      />
      {row === null || confirming === null ? null : (
        <ModeDialog row={row} mode={confirming} onClose={() => setNewMode(null)} />
      )}
      {row === null || !isManageOpen ? null : (
        <SessionDialog
          row={row}
          onClose={() => setManageOpen(false)}
          onDeleted={() => go({ screen: "sessions" })}
        />
      )}
      {isActivityOpen ? (
        <Activity session={session} model={row?.model ?? null} onClose={() => setActivityOpen(false)} />
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

/** Chooses the main stream or a sub-agent, if there is one. */
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
            {stream === main ? "main" : `sub-agent: ${streamName(stream)}`} (
            {pluralText(stream.turns, "turn")})
          </option>
        ))}
      </select>
    </label>
  );
}

/** Shows a toast for each new approval, with a link to it. */
function useApprovalToasts({ session, since }: SessionWatch, page: PricedApprovals | null): void {
  const lastAnnounced = useRef(0);
  useEffect(() => {
    if (page === null || since === null) return;
    for (const { approval, seq, actor, verb, blocks } of page.rows) {
      if (approval <= lastAnnounced.current || seq <= since) continue;
      lastAnnounced.current = approval;
      const subject = blocks.length === 0 ? "" : ` ${blockList(blocks, 3)}`;
      const button = { title: "Review", run: () => go({ screen: "approvals", session }) };
      showToast(`${actorName(actor, page.model)} asks to ${verb}${subject} and waits for your approval`, {
        button,
      });
    }
  }, [session, since, page]);
}

/** The first value that is not null. */
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
        {...linkTo(route)}
        className={isHere ? "tab chosen" : "tab"}
        aria-current={isHere ? "page" : undefined}
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
        <label key={mode} className={mode === now ? "chosen" : ""} title={modeDescriptions[mode]}>
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
      showError(`Recording is paused, requests still pass: ${event.message ?? "storage unavailable"}`);
    else showToast("Recording has resumed");
    refresh("/health");
    return;
  }
  // `useStepToasts` announces what policy does to blocks; other notices carry a code.
  if (event.type === "notice") {
    if (event.code !== null) showToast(event.message);
    return;
  }
  refresh(path);
}

type SessionCommandsInput = {
  readonly isPast: boolean;
  readonly onUndo: () => void;
  readonly onActivity: () => void;
  readonly onMode: (mode: Mode) => void;
  readonly onManage: () => void;
};

function useSessionCommands(session: string, input: SessionCommandsInput): void {
  const { isPast, onUndo, onActivity, onMode, onManage } = input;
  const screens = [
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
    ...screens.map(({ route, ...command }) => ({ ...command, group: "Go", run: () => go(route) })),
    { id: "activity", title: "Show the activity", keys: ["g t"], group: "Go", run: onActivity },
    { id: "manage", title: "Rename, export or delete the session", keys: [], group: "Panel", run: onManage },
    ...(isPast ? [] : [...undoCommands(session, onUndo), ...modeCommands(onMode)]),
  ]);
}

function undoCommands(session: string, onUndo: () => void): readonly Command[] {
  return [
    { id: "undo", title: "Undo the last step", keys: ["z"], group: "Undo", run: onUndo },
    {
      id: "redo",
      title: "Redo the last undone step",
      keys: ["Shift+Z"],
      group: "Undo",
      run: () => void redo(session),
    },
  ];
}

function modeCommands(onMode: (mode: Mode) => void): readonly Command[] {
  return modes.map((mode) => ({
    id: `mode-${mode}`,
    title: `Switch to mode ${mode}`,
    keys: [],
    group: "Mode",
    run: () => onMode(mode),
  }));
}
