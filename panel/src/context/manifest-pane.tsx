import { useState } from "react";
import type { RouteAnswers } from "../api/contract.ts";
import { useResource } from "../api/resource.ts";
import { tokensText } from "../base/format.ts";
import { ScrollText } from "../components/scroll-text.tsx";
import { Tabs } from "../components/tabs.tsx";
import { sessionPath, streamQuery } from "./actions.ts";

export type ManifestPaneProps = {
  readonly session: string;
  /** True while the context shows an earlier seq. */
  readonly isPast: boolean;
  readonly onClose: () => void;
};

const details = ["summary", "detailed"] as const;
const titles = { summary: "every turn", detailed: "after a rewrite" } as const;

/** The exact text of the next manifest. */
export function ManifestPane({ session, isPast, onClose }: ManifestPaneProps) {
  const [detail, setDetail] = useState<(typeof details)[number]>("summary");
  const more = streamQuery().replace("?", "&");
  const path = `${sessionPath(session)}/manifest?detail=${detail}${more}`;
  const { data, error } = useResource<RouteAnswers["ManifestAnswer"]>(path);
  return (
    <aside className="inspector" aria-label="Manifest">
      <header>
        <h2>Next manifest</h2>
        <button type="button" className="button quiet" aria-label="Close the manifest" onClick={onClose}>
          ×
        </button>
      </header>
      <Tabs names={details} chosen={detail} onChoose={setDetail} label="Manifest" titles={titles} />
      {isPast ? (
        <p>
          <b>This is the current manifest, not that of the seq you are viewing.</b>
        </p>
      ) : null}
      {error === null ? null : <p className="problem">{error.message}</p>}
      {data === null ? null : <ManifestText data={data} />}
    </aside>
  );
}

function ManifestText({ data }: { readonly data: RouteAnswers["ManifestAnswer"] }) {
  const { text, tokens, turn, mode, signatures } = data;
  return (
    <>
      {mode === "observe" ? (
        <p className="problem">The session is in mode observe: the model does not get this manifest.</p>
      ) : (
        <p className="dim">
          Sent after the user’s next message, in turn {turn}: <b>~{tokensText(tokens)}</b> tokens.
          {signatures === 0 ? "" : ` The signatures of ${signatures} reasoning blocks are kept.`}
        </p>
      )}
      <ScrollText label="Text of the manifest" className="manifest">
        {text}
      </ScrollText>
      <p className="dim">
        <code>----</code> replaces the session’s nonce, by which the model tells Aperture’s lines from
        content.
      </p>
    </>
  );
}
