import type { RequestCopy } from "../exchange.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import { belongingOf } from "./identify.ts";

/** What can be told of a copy before it is read. */
export type CopyLabel = {
  readonly owner: string;
  readonly upstream: string;
  readonly credential: string;
  /** What its headers call the session. Its body may call it something, too. */
  readonly sessionKey: string | null;
};

export function labelOf(copy: RequestCopy): CopyLabel {
  const { owner, credential } = copy.caller;
  return { owner, upstream: copy.upstream, credential, sessionKey: belongingOf(copy, null).sessionKey };
}

/** Whether the copy may be of the session that is asked about. */
export function concerns(label: CopyLabel, question: LedgerQuestion): boolean {
  if (label.owner !== question.owner || label.upstream !== question.upstream) return false;
  if (label.sessionKey !== null) return label.sessionKey === question.sessionKey;
  return label.credential === question.credential;
}
