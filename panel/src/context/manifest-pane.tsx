import { useState } from "react";
import type { RouteAnswers } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { tokensText } from "../base/words.ts";
import { ScrollText } from "../parts/scroll-text.tsx";
import { Tabs } from "../parts/tabs.tsx";
import { sessionPath, streamQuery } from "./acts.ts";

export type ManifestPaneProps = {
  readonly session: string;
  /** An earlier seq is looked at beside it. */
  readonly isPast: boolean;
  readonly onClose: () => void;
};

const details = ["summary", "detailed"] as const;
const titles = { summary: "every turn", detailed: "at an epoch’s start" } as const;

/** The exact words the model reads next about its context. Nothing of it is hidden from the user. */
export function ManifestPane({ session, isPast, onClose }: ManifestPaneProps) {
  const [detail, setDetail] = useState<(typeof details)[number]>("summary");
  const more = streamQuery().replace("?", "&");
  const path = `${sessionPath(session)}/manifest?detail=${detail}${more}`;
  const { data, error } = useResource<RouteAnswers["ManifestAnswer"]>(path);
  return (
    <aside className="inspector" aria-label="Manifest">
      <header>
        <h2>What the model reads next</h2>
        <button type="button" className="button quiet" aria-label="Close the manifest" onClick={onClose}>
          ×
        </button>
      </header>
      <Tabs names={details} chosen={detail} onChoose={setDetail} label="Manifest" titles={titles} />
      {isPast ? (
        <p>
          <b>This is the manifest of now, not of the seq you look at.</b>
        </p>
      ) : null}
      {error === null ? null : <p className="problem">{error.message}</p>}
      {data === null ? null : <Told data={data} />}
    </aside>
  );
}

function Told({ data }: { readonly data: RouteAnswers["ManifestAnswer"] }) {
  const { text, tokens, turn, mode, signatures } = data;
  return (
    <>
      {mode === "observe" ? (
        <p className="problem">The session is only observed: its model is told nothing of this.</p>
      ) : (
        <p className="dim">
          Goes behind the user’s next words, in turn {turn}; <b>~{tokensText(tokens)}</b> tokens.
          {signatures === 0 ? "" : ` ${signatures} signatures of left-out reasoning are preserved.`}
        </p>
      )}
      <ScrollText label="Text of the manifest" className="manifest">
        {text}
      </ScrollText>
      <p className="dim">
        <code>----</code> stands where the mark of this session does, by which the model tells these lines
        from content.
      </p>
    </>
  );
}
