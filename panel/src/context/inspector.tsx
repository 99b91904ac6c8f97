import { useMemo, useState } from "react";
import type { BlockDetail, RouteAnswers } from "../api/contract.ts";
import { useLabels } from "../api/labels.ts";
import { useResource } from "../api/resource.ts";
import { clockText, countedText, formNames, pluralText } from "../base/format.ts";
import { DiffText } from "../components/diff-text.tsx";
import { Fact } from "../components/facts.tsx";
import { ScrollText } from "../components/scroll-text.tsx";
import { Tabs } from "../components/tabs.tsx";
import { diffWithShorter } from "../components/word-diff.ts";
import { sessionPath } from "./actions.ts";
import { marksOf } from "./block-list.tsx";

export type InspectorProps = {
  readonly session: string;
  readonly block: number;
  readonly at: number | null;
  readonly onClose: () => void;
};

const tabs = ["text", "levels", "history", "raw"] as const;

/** Shows one block: facts, text, levels and history. */
export function Inspector({ session, block, at, onClose }: InspectorProps) {
  const query = at === null ? "" : `?at=${at}`;
  const { data, error } = useResource<BlockDetail>(`${sessionPath(session)}/blocks/${block}${query}`);
  const [tab, setTab] = useState<(typeof tabs)[number]>("text");
  return (
    <aside className="inspector" aria-label={`Block ${block}`}>
      <header>
        <h2>#{block}</h2>
        <button type="button" className="button quiet" aria-label="Close the inspector" onClick={onClose}>
          ×
        </button>
      </header>
      {error === null ? null : <p className="problem">{error.message}</p>}
      {data === null ? null : (
        <>
          <Facts session={session} detail={data} />
          <Tabs names={tabs} chosen={tab} onChoose={setTab} label="Block" />
          {tab === "text" ? <BlockText session={session} detail={data} /> : null}
          {tab === "raw" ? <Raw detail={data} /> : null}
          {tab === "levels" ? <Levels session={session} detail={data} /> : null}
          {tab === "history" ? <History detail={data} /> : null}
        </>
      )}
    </aside>
  );
}

function Facts({ session, detail: { block, wireType, pending } }: DetailProps) {
  // The same label as in the list.
  const labels = useLabels(session, [block.n]);
  return (
    <dl className="facts">
      <Fact name="topic">{block.topic ?? labels.get(block.n) ?? "none"}</Fact>
      <Fact name="kind">
        {block.kind}
        {wireType === null || wireType === block.kind ? "" : ` (${wireType})`} from {block.speaker}
      </Fact>
      <Fact name="tokens">{countedText(block.tokens, block.exact)}</Fact>
      <Fact name="zone">{block.zone}</Fact>
      <Fact name="shown">{formNames[block.shown]}</Fact>
      {pending === null ? null : (
        <Fact name="wanted">
          {formNames[pending.wanted]}, {waitTexts[pending.waitsFor]}
        </Fact>
      )}
      <Fact name="state">
        {[block.state, ...marksOf(block).filter((mark) => mark !== block.state)].join(", ")}
      </Fact>
      <Fact name="last used">
        turn {block.lastUsedTurn}
        {block.ttl === null ? "" : `, ${pluralText(block.ttl, "turn")} left until it is lowered`}
      </Fact>
      <Fact name="arrived">
        turn {block.turn}, message {block.message}
        {block.firstRequest === null ? "" : `, request ${block.firstRequest}`}
      </Fact>
    </dl>
  );
}

const waitTexts = {
  rewrite: "at the next rewrite",
  managed: "once the session is managed",
  text: "but no shorter text is stored",
} as const;

type DetailProps = { readonly session: string; readonly detail: BlockDetail };

/** The stored text of the block, and the placeholder the model reads instead. Never rendered as HTML. */
function BlockText({ session, detail: { block, placeholder } }: DetailProps) {
  const { data, error } = useResource<RouteAnswers["ExpansionAnswer"]>(expansionPath(session, block.n));
  const row = data?.rows[0];
  return (
    <>
      {placeholder === null ? null : (
        <>
          <h3>
            {block.shown === "placeholder"
              ? "Placeholder the model reads"
              : "Placeholder the model will read"}
          </h3>
          <pre className="text">{placeholder}</pre>
          <h3>Stored text</h3>
        </>
      )}
      {error === null ? null : <p className="problem">{error.message}</p>}
      {row === undefined ? null : <Text text={row.text ?? "(no text)"} isCut={row.isCut} />}
    </>
  );
}

function Raw({ detail: { content, problem } }: { readonly detail: BlockDetail }) {
  if (content === null) return <p className="problem">The content is not available ({problem}).</p>;
  if (content.encoding === "base64") return <p className="dim">Binary content: {content.total} bytes.</p>;
  return <Text text={content.text} isCut={content.from + content.length < content.total} />;
}

function Text({ text, isCut }: { readonly text: string; readonly isCut: boolean }) {
  return (
    <>
      <ScrollText label="Stored text">{text}</ScrollText>
      {isCut ? <p className="dim">The text is longer than shown here.</p> : null}
    </>
  );
}

/** Every level with its size and the text the model would read. */
function Levels({ session, detail: { levels, block } }: DetailProps) {
  const path = `${sessionPath(session)}/blocks/${block.n}/levels`;
  const { data } = useResource<RouteAnswers["PreviewsAnswer"]>(path);
  const [chosen, setChosen] = useState<string | null>(null);
  const previews = data?.rows ?? [];
  const shown = previews.find(({ level }) => level === chosen);
  return (
    <>
      <ul className="levels">
        {levels.map(({ level, tokens, exact }) => {
          const preview = previews.find((row) => row.level === level);
          const size = tokens ?? preview?.tokens ?? null;
          return (
            <li key={level}>
              <button
                type="button"
                className="button small"
                aria-pressed={level === chosen}
                disabled={preview === undefined}
                onClick={() => setChosen(level === chosen ? null : level)}
              >
                {formNames[level]}
              </button>
              <span className="number">{size === null ? "no shorter text" : countedText(size, exact)}</span>
              <span className="dim">
                {[block.shown === level ? "shown" : "", block.wanted === level ? "wanted" : ""]
                  .filter((word) => word !== "")
                  .join(", ")}
              </span>
            </li>
          );
        })}
      </ul>
      {(data?.reasons ?? []).map((reason) => (
        <p key={reason} className="dim">
          {reason}
        </p>
      ))}
      {shown === undefined ? null : <LevelText session={session} block={block.n} preview={shown} />}
    </>
  );
}

type Preview = RouteAnswers["PreviewsAnswer"]["rows"][number];
type LevelTextProps = { readonly session: string; readonly block: number; readonly preview: Preview };

const levelViews = ["diff", "text"] as const;
const levelViewTitles = { diff: "difference", text: "text" } as const;

/** The text at a level, compared with the whole text. */
function LevelText({ session, block, preview }: LevelTextProps) {
  const { data } = useResource<RouteAnswers["ExpansionAnswer"]>(expansionPath(session, block));
  const [view, setView] = useState<(typeof levelViews)[number]>("diff");
  const whole = data?.rows[0]?.text ?? null;
  const spans = useMemo(
    () => (whole === null || view === "text" ? null : diffWithShorter(whole, preview.text)),
    [whole, preview, view],
  );
  return (
    <>
      <Tabs names={levelViews} chosen={view} onChoose={setView} label="Level" titles={levelViewTitles} />
      {spans === null ? <Text text={preview.text} isCut={preview.isCut} /> : <DiffText spans={spans} />}
    </>
  );
}

function expansionPath(session: string, block: number): string {
  return `${sessionPath(session)}/expansion?block=${block}`;
}

function History({ detail: { history } }: { readonly detail: BlockDetail }) {
  const rows = history.filter(({ did }) => did !== "");
  if (rows.length === 0) return <p className="dim">No changes yet.</p>;
  return (
    <ol className="history">
      {[...rows].reverse().map(({ seq, time, actor, did, reason }) => (
        <li key={seq}>
          <span className="dim">
            {clockText(time)} · seq {seq}
          </span>
          <br />
          {actor} {did}
          {reason === "" ? "" : ` (${reason})`}
        </li>
      ))}
    </ol>
  );
}
