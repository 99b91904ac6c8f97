import { useCallback, useEffect, useMemo, useState } from "react";
import type { BlockRow, SelectionAnswer, StateRow } from "../api/contract.ts";
import { useAllLabels } from "../api/labels.ts";
import { useLater } from "../api/resource.ts";
import { isWhole, useContextState } from "../api/state.ts";
import { type ContextRoute, requestsRoute } from "../base/paths.ts";
import { go } from "../base/route.ts";
import { ActionBar } from "../context/action-bar.tsx";
import { focusOn, sessionPath, streamQuery } from "../context/acts.ts";
import { AskDialog } from "../context/ask-dialog.tsx";
import { BlockList } from "../context/block-list.tsx";
import { useContextCommands } from "../context/context-commands.ts";
import { type Asking, doingsFor } from "../context/doings.ts";
import { filterOf, passes } from "../context/filter.ts";
import { FilterBar, type Sort } from "../context/filter-bar.tsx";
import { FocusChip } from "../context/focus-chip.tsx";
import { Inspector } from "../context/inspector.tsx";
import { ManifestPane } from "../context/manifest-pane.tsx";
import { PastBanner } from "../context/past-banner.tsx";
import { cleared, kept, noSelection, type Selection } from "../context/selection.ts";
import { Timeline } from "../context/timeline.tsx";
import { WindowHead } from "../context/window-head.tsx";
import { Problem } from "../parts/problem.tsx";
import { ColdStrip } from "../strip/cold-strip.tsx";
import { Strip, type StripProps } from "../strip/strip.tsx";

export type ContextProps = { readonly route: ContextRoute };

/** What the model has right now, or had at an earlier seq. */
export function ContextScreen({ route }: ContextProps) {
  const { session, at, stream } = route;
  const { state, error } = useContextState({ session: sessionPath(session), at, stream });
  if (state === null)
    return error === null ? <p className="loading">Reading the context…</p> : <Problem error={error} />;
  return <Context route={route} state={state} />;
}

type Inside = ContextProps & { readonly state: StateRow };

function Context({ route, state }: Inside) {
  const { session, at, block } = route;
  const { selection, setSelection, chosen, list, asking, setAsking, side, setManifest, open, doings } =
    useInside({ route, state });
  return (
    <div className={side === null ? "context" : "context inspecting"}>
      <div className="context-main">
        <Picture
          {...{ route, state, selection }}
          onChoose={(blocks, { adds }) => setSelection((before) => chosenOnStrip(before, blocks, adds))}
        />
        <FilterBar
          {...list}
          read={state.blocks.length}
          total={state.total}
          isPast={at !== null}
          onCreate={() => setAsking({ type: "create", supersedes: [] })}
          onRecall={() => setAsking({ type: "recall" })}
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
            hidden={hiddenIn(chosen, list.rows)}
            doings={doings}
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
      {asking === null ? null : (
        <AskDialog {...{ session, asking }} rows={state.blocks} onClose={() => setAsking(null)} />
      )}
    </div>
  );
}

/** What is chosen, asked and open, and every command about it. */
function useInside({ route, state }: Inside) {
  const { session, at, block } = route;
  const [selection, setSelection] = useSelection(state);
  const [asking, setAsking] = useState<Asking | null>(null);
  const [isManifest, setManifest] = useState(false);
  const list = useList(state);
  const chosen = useMemo(
    () => state.blocks.filter(({ n }) => selection.chosen.has(n)),
    [state.blocks, selection.chosen],
  );
  const open = useCallback((n: number | null) => go({ ...route, block: n }), [route]);
  const onCursor = withCursor(chosen, state.blocks, selection);
  const doings = doingsFor({ session, chosen: onCursor, isPast: at !== null, ask: setAsking });
  useContextCommands({
    doings,
    rows: list.rows,
    selection,
    isPast: at !== null,
    isFiltered: list.text !== "",
    onSelect: setSelection,
    onOpen: open,
    onAsk: setAsking,
    onManifest: () => setManifest((before) => !before),
    onDiff: () => go(requestsRoute(session)),
  });
  const side: "block" | "manifest" | null = block !== null ? "block" : isManifest ? "manifest" : null;
  return { selection, setSelection, chosen, list, asking, setAsking, side, setManifest, open, doings };
}

type PictureProps = Inside & {
  readonly selection: Selection;
  readonly onChoose: StripProps["onChoose"];
};

/** How full it is, as numbers and as a strip. */
function Picture({ route, state, selection, onChoose }: PictureProps) {
  const { session, at } = route;
  return (
    <>
      {at === null ? null : <PastBanner state={state} onLive={() => go({ ...route, at: null }, "replace")} />}
      <WindowHead state={state} />
      <Strip state={state} chosen={selection.chosen} onChoose={onChoose} />
      <ColdStrip state={state} />
      {at === null ? <Focused session={session} /> : null}
    </>
  );
}

/** Of now alone: what the model was pointed at earlier is over, and cannot be cleared there. */
function Focused({ session }: { readonly session: string }) {
  const { data: focus } = useLater<SelectionAnswer>(`${sessionPath(session)}/selection${streamQuery()}`);
  return <FocusChip focus={focus} onClear={() => void focusOn(session, [])} />;
}

function hiddenIn(chosen: readonly BlockRow[], rows: readonly BlockRow[]): number {
  const shown = new Set(rows.map(({ n }) => n));
  return chosen.filter(({ n }) => !shown.has(n)).length;
}

function chosenOnStrip(before: Selection, blocks: readonly number[], adds: boolean): Selection {
  return {
    chosen: new Set([...(adds ? before.chosen : []), ...blocks]),
    anchor: blocks[0] ?? null,
    cursor: blocks[0] ?? before.cursor,
  };
}

/** By key, the row the keyboard is on will do where nothing is chosen. */
function withCursor(
  chosen: readonly BlockRow[],
  all: readonly BlockRow[],
  { cursor }: Selection,
): readonly BlockRow[] {
  return chosen.length > 0 ? chosen : all.filter(({ n }) => n === cursor);
}

function useSelection(state: StateRow) {
  const [selection, setSelection] = useState<Selection>(noSelection);
  useEffect(() => {
    // What was not read yet is not gone.
    if (isWhole(state)) setSelection((before) => kept(before, new Set(state.blocks.map(({ n }) => n))));
  }, [state]);
  return [selection, setSelection] as const;
}

function useList({ session, blocks, turn }: StateRow) {
  const [text, setText] = useState("");
  const [sort, setSort] = useState<Sort>("order");
  const filter = useMemo(() => filterOf(text), [text]);
  // What the topic column says of a block without a topic is read for those that are seen, and here for all.
  const unnamed = useMemo(
    () => (filter.needsLabels ? blocks.filter(({ topic }) => topic === null).map(({ n }) => n) : null),
    [filter.needsLabels, blocks],
  );
  const labels = useAllLabels(session, unnamed);
  const rows = useMemo(() => {
    const looked = (row: BlockRow) => ({ turn, label: row.topic ?? labels.get(row.n) ?? "" });
    const passed = blocks.filter((row) => passes(filter, row, looked(row)));
    return sort === "order" ? passed : [...passed].sort((a, b) => (b.tokens ?? 0) - (a.tokens ?? 0));
  }, [blocks, filter, labels, turn, sort]);
  const isSearching = unnamed?.some((n) => !labels.has(n)) ?? false;
  return { text, setText, sort, setSort, rows, problems: filter.problems, isSearching };
}
