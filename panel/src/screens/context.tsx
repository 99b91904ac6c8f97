import { useCallback, useEffect, useMemo, useState } from "react";
import { isComplete, useContextState } from "../api/context-state.ts";
import type { BlockRow, StateRow } from "../api/contract.ts";
import { useAllLabels } from "../api/labels.ts";
import { go } from "../base/navigation.ts";
import { type ContextRoute, requestsRoute } from "../base/routes.ts";
import { ErrorPage } from "../components/error-page.tsx";
import { ActionBar } from "../context/action-bar.tsx";
import { ActionDialog } from "../context/action-dialog.tsx";
import { sessionPath } from "../context/actions.ts";
import { blockActions, type DialogSpec } from "../context/block-actions.ts";
import { BlockList } from "../context/block-list.tsx";
import { useContextCommands } from "../context/context-commands.ts";
import { filterOf, passes } from "../context/filter.ts";
import { FilterBar, type Sort } from "../context/filter-bar.tsx";
import { Inspector } from "../context/inspector.tsx";
import { ManifestPane } from "../context/manifest-pane.tsx";
import { PastBanner } from "../context/past-banner.tsx";
import { cleared, kept, noSelection, type Selection } from "../context/selection.ts";
import { SelectionChip } from "../context/selection-chip.tsx";
import { Timeline } from "../context/timeline.tsx";
import { WindowHead } from "../context/window-head.tsx";
import { ColdStrip } from "../strip/cold-strip.tsx";
import { Strip, type StripProps } from "../strip/strip.tsx";

export type ContextProps = { readonly route: ContextRoute };

/** The context of the model, now or at an earlier seq. */
export function ContextScreen({ route }: ContextProps) {
  const { session, at, stream } = route;
  const { state, error } = useContextState({ session: sessionPath(session), at, stream });
  if (state === null)
    return error === null ? <p className="loading">Loading the context…</p> : <ErrorPage error={error} />;
  return <Context route={route} state={state} />;
}

type LoadedProps = ContextProps & { readonly state: StateRow };

function Context({ route, state }: LoadedProps) {
  const { session, at, block } = route;
  const { selection, setSelection, chosen, list, dialog, setDialog, side, setManifest, open, actions } =
    useContextScreen({ route, state });
  return (
    <div className={side === null ? "context" : "context inspecting"}>
      <div className="context-main">
        <WindowView
          {...{ route, state, selection }}
          onChoose={(blocks, { adds }) => setSelection((before) => chooseOnStrip(before, blocks, adds))}
        />
        <FilterBar
          {...list}
          read={state.blocks.length}
          total={state.total}
          isPast={at !== null}
          onCreate={() => setDialog({ type: "create", supersedes: [] })}
          onRecall={() => setDialog({ type: "recall" })}
          onManifest={() => setManifest((before) => !before)}
        />
        <BlockList
          {...{ session, at, selection }}
          rows={list.rows}
          more={state.total - state.blocks.length}
          onSelect={setSelection}
          onOpen={open}
        />
        {chosen.length === 0 ? null : (
          <ActionBar
            chosen={chosen}
            hidden={countHidden(chosen, list.rows)}
            actions={actions}
            onClear={() => setSelection(cleared)}
          />
        )}
        <Timeline
          session={session}
          at={at}
          head={state.head}
          onGo={(seq) => go({ ...route, at: seq }, "replace")}
        />
      </div>
      {side === "manifest" ? (
        <ManifestPane session={session} isPast={at !== null} onClose={() => setManifest(false)} />
      ) : null}
      {block === null ? null : <Inspector {...{ session, block, at }} onClose={() => open(null)} />}
      {dialog === null ? null : (
        <ActionDialog {...{ session, dialog }} rows={state.blocks} onClose={() => setDialog(null)} />
      )}
    </div>
  );
}

/** The state of the screen and its commands. */
function useContextScreen({ route, state }: LoadedProps) {
  const { session, at, block } = route;
  const [selection, setSelection] = useSelection(state);
  const [dialog, setDialog] = useState<DialogSpec | null>(null);
  const [isManifest, setManifest] = useState(false);
  const list = useList(state);
  const chosen = useMemo(
    () => state.blocks.filter(({ n }) => selection.chosen.has(n)),
    [state.blocks, selection.chosen],
  );
  const open = useCallback((n: number | null) => go({ ...route, block: n }), [route]);
  const targets = actionTargets(chosen, state.blocks, selection);
  const actions = blockActions({
    session,
    chosen: targets,
    isPast: at !== null,
    openDialog: setDialog,
    openInspector: open,
  });
  useContextCommands({
    actions,
    rows: list.rows,
    selection,
    isPast: at !== null,
    isFiltered: list.text !== "",
    onSelect: setSelection,
    onOpen: open,
    onOpenDialog: setDialog,
    onManifest: () => setManifest((before) => !before),
    onDiff: () => go(requestsRoute(session)),
  });
  const side: "block" | "manifest" | null = block !== null ? "block" : isManifest ? "manifest" : null;
  return { selection, setSelection, chosen, list, dialog, setDialog, side, setManifest, open, actions };
}

type WindowViewProps = LoadedProps & {
  readonly selection: Selection;
  readonly onChoose: StripProps["onChoose"];
};

/** The window as numbers and as a strip. */
function WindowView({ route, state, selection, onChoose }: WindowViewProps) {
  const { session, at } = route;
  return (
    <>
      {at === null ? null : <PastBanner state={state} onLive={() => go({ ...route, at: null }, "replace")} />}
      <WindowHead state={state} />
      <Strip state={state} chosen={selection.chosen} onChoose={onChoose} />
      <ColdStrip state={state} />
      {/* The selection belongs to now: it cannot be changed in the past. */}
      {at === null ? <SelectionChip session={session} /> : null}
    </>
  );
}

function countHidden(chosen: readonly BlockRow[], rows: readonly BlockRow[]): number {
  const shown = new Set(rows.map(({ n }) => n));
  return chosen.filter(({ n }) => !shown.has(n)).length;
}

function chooseOnStrip(before: Selection, blocks: readonly number[], adds: boolean): Selection {
  return {
    chosen: new Set([...(adds ? before.chosen : []), ...blocks]),
    anchor: blocks[0] ?? null,
    cursor: blocks[0] ?? before.cursor,
  };
}

/** The blocks an action applies to: the chosen ones, else the row under the cursor. */
function actionTargets(
  chosen: readonly BlockRow[],
  all: readonly BlockRow[],
  { cursor }: Selection,
): readonly BlockRow[] {
  return chosen.length > 0 ? chosen : all.filter(({ n }) => n === cursor);
}

function useSelection(state: StateRow) {
  const [selection, setSelection] = useState<Selection>(noSelection);
  useEffect(() => {
    // An incomplete state must not drop rows that are not read yet.
    if (isComplete(state)) setSelection((before) => kept(before, new Set(state.blocks.map(({ n }) => n))));
  }, [state]);
  return [selection, setSelection] as const;
}

function useList({ session, blocks, turn }: StateRow) {
  const [text, setText] = useState("");
  const [sort, setSort] = useState<Sort>("order");
  const filter = useMemo(() => filterOf(text), [text]);
  // Labels are read for visible rows only; a filter on labels needs all of them.
  const unlabelled = useMemo(
    () => (filter.needsLabels ? blocks.filter(({ topic }) => topic === null).map(({ n }) => n) : null),
    [filter.needsLabels, blocks],
  );
  const labels = useAllLabels(session, unlabelled);
  const rows = useMemo(() => {
    const contextOf = (row: BlockRow) => ({ turn, label: row.topic ?? labels.get(row.n) ?? "" });
    const passed = blocks.filter((row) => passes(filter, row, contextOf(row)));
    return sort === "order" ? passed : [...passed].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
  }, [blocks, filter, labels, turn, sort]);
  const isSearching = unlabelled?.some((n) => !labels.has(n)) ?? false;
  return { text, setText, sort, setSort, rows, problems: filter.problems, isSearching };
}
