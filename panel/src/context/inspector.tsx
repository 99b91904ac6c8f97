import { useMemo, useState } from "react";
import type { BlockDetail, RouteAnswers } from "../api/contract.ts";
import { useLabels } from "../api/labels.ts";
import { useResource } from "../api/resource.ts";
import { clockText, countedText, formWords } from "../base/words.ts";
import { Fact } from "../parts/fact.tsx";
import { ScrollText } from "../parts/scroll-text.tsx";
import { Stretches } from "../parts/stretches.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { shortening } from "../parts/word-diff.ts";
import { sessionPath } from "./acts.ts";
import { marksOf } from "./block-list.tsx";

export type InspectorProps = {
  readonly session: string;
  readonly block: number;
  readonly at: number | null;
  readonly onClose: () => void;
};

const tabs = ["text", "levels", "history", "raw"] as const;

/** One block: what it is, what it says, and everything that ever happened to it. */
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
          {tab === "text" ? <Words session={session} detail={data} /> : null}
          {tab === "raw" ? <Raw detail={data} /> : null}
          {tab === "levels" ? <Levels session={session} detail={data} /> : null}
          {tab === "history" ? <History detail={data} /> : null}
        </>
      )}
    </aside>
  );
}

function Facts({ session, detail: { block, wireType, pending } }: DetailProps) {
  // What the list says of a block it says here too.
  const labels = useLabels(session, [block.n]);
  return (
    <dl className="facts">
      <Fact name="topic">{block.topic ?? labels.get(block.n) ?? "none"}</Fact>
      <Fact name="kind">
        {block.kind}
        {wireType === null || wireType === block.kind ? "" : ` (${wireType})`} of {block.speaker}
      </Fact>
      <Fact name="tokens">{countedText(block.tokens, block.exact)}</Fact>
      <Fact name="zone">{block.zone}</Fact>
      <Fact name="shown">{formWords[block.shown]}</Fact>
      {pending === null ? null : (
        <Fact name="wanted">
          {formWords[pending.wanted]}, {waits[pending.waitsFor]}
        </Fact>
      )}
      <Fact name="state">
        {[block.state, ...marksOf(block).filter((mark) => mark !== block.state)].join(", ")}
      </Fact>
      <Fact name="last used">
        turn {block.lastUsedTurn}
        {block.ttl === null ? "" : `, lowered in ${block.ttl} turns`}
      </Fact>
      <Fact name="arrived">
        turn {block.turn}, message {block.message}
        {block.firstRequest === null ? "" : `, request ${block.firstRequest}`}
      </Fact>
    </dl>
  );
}

const waits = {
  rewrite: "at the next rewrite",
  managed: "once the session is managed",
  text: "but nothing shorter is stored",
} as const;

type DetailProps = { readonly session: string; readonly detail: BlockDetail };

/** What it says, whatever is shown of it. Text of others: it is shown as text and nothing else. */
function Words({ session, detail: { block, placeholder } }: DetailProps) {
  const { data, error } = useResource<RouteAnswers["ExpansionAnswer"]>(expansionPath(session, block.n));
  const row = data?.rows[0];
  return (
    <>
      {placeholder === null ? null : (
        <>
          <h3>
            {block.shown === "placeholder" ? "What the model sees instead" : "What it will see instead"}
          </h3>
          <pre className="text">{placeholder}</pre>
          <h3>What is stored</h3>
        </>
      )}
      {error === null ? null : <p className="problem">{error.message}</p>}
      {row === undefined ? null : <Text text={row.text ?? "(no words)"} isCut={row.isCut} />}
    </>
  );
}

function Raw({ detail: { content, problem } }: { readonly detail: BlockDetail }) {
  if (content === null) return <p className="problem">Its content cannot be had ({problem}).</p>;
  if (content.encoding === "base64") return <p className="dim">No text: {content.total} bytes.</p>;
  return <Text text={content.text} isCut={content.from + content.length < content.total} />;
}

function Text({ text, isCut }: { readonly text: string; readonly isCut: boolean }) {
  return (
    <>
      <ScrollText label="Stored text">{text}</ScrollText>
      {isCut ? <p className="dim">There is more of it than is shown here.</p> : null}
    </>
  );
}

/** Every level with its size, and what the model would read of the block there. */
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
                {formWords[level]}
              </button>
              <span className="number">{size === null ? "nothing shorter" : countedText(size, exact)}</span>
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
      {shown === undefined ? null : <Shortened session={session} block={block.n} preview={shown} />}
    </>
  );
}

type Preview = RouteAnswers["PreviewsAnswer"]["rows"][number];
type ShortenedProps = { readonly session: string; readonly block: number; readonly preview: Preview };

const looks = ["diff", "text"] as const;
const lookTitles = { diff: "what it leaves out", text: "its text alone" } as const;

/** What the model would read at a level, against what the block says. */
function Shortened({ session, block, preview }: ShortenedProps) {
  const { data } = useResource<RouteAnswers["ExpansionAnswer"]>(expansionPath(session, block));
  const [look, setLook] = useState<(typeof looks)[number]>("diff");
  const whole = data?.rows[0]?.text ?? null;
  const stretches = useMemo(
    () => (whole === null || look === "text" ? null : shortening(whole, preview.text)),
    [whole, preview, look],
  );
  return (
    <>
      <Tabs names={looks} chosen={look} onChoose={setLook} label="Level" titles={lookTitles} />
      {stretches === null ? (
        <Text text={preview.text} isCut={preview.isCut} />
      ) : (
        <Stretches stretches={stretches} />
      )}
    </>
  );
}

function expansionPath(session: string, block: number): string {
  return `${sessionPath(session)}/expansion?block=${block}`;
}

function History({ detail: { history } }: { readonly detail: BlockDetail }) {
  const told = history.filter(({ did }) => did !== "");
  if (told.length === 0) return <p className="dim">Nothing was done to it.</p>;
  return (
    <ol className="history">
      {[...told].reverse().map(({ seq, time, actor, did, reason }) => (
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
