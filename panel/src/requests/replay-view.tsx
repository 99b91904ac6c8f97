import type { PricedRequest, RouteAnswers } from "../api/contract.ts";
import { tokensText } from "../base/words.ts";
import { useOnce } from "./use-once.ts";

type Answer = RouteAnswers["ReplayAnswer"];
type Verdict = Answer["verdict"];
type Accepted = Extract<Verdict, { readonly accepted: true }>;
type Refused = Extract<Verdict, { readonly accepted: false }>;

export type ReplayViewProps = { readonly path: string; readonly row: PricedRequest };

/** What the strict model inside Aperture says to what went upstream. */
export function ReplayView({ path, row }: ReplayViewProps) {
  const { data, error } = useOnce<Answer>(`${path}/replay`, row.outcome);
  return (
    <section className="replay" aria-label="Replay" aria-live="polite">
      {error === null ? null : <p className="verdict refused">{error.message}</p>}
      {data === null && error === null ? <p className="loading">Replaying…</p> : null}
      {data === null ? null : <Outcome answer={data} row={row} />}
      <p className="dim">
        Checked inside Aperture by the strict model of its demo: nothing was sent and no key was used. It
        counts tokens in its own way. Headers are not recorded, so every known beta is allowed, and signatures
        are believed.
      </p>
    </section>
  );
}

function Outcome({
  answer: { verdict, behind },
  row,
}: {
  readonly answer: Answer;
  readonly row: PricedRequest;
}) {
  return verdict.accepted ? (
    <>
      <p className="verdict same">Accepted: {verdict.status}</p>
      {verdict.prompt === null ? null : <p>{promptText(verdict.prompt, behind, row)}</p>}
    </>
  ) : (
    <Refusal verdict={verdict} />
  );
}

function Refusal({ verdict: { status, type, message } }: { readonly verdict: Refused }) {
  return (
    <>
      <p className="verdict refused">
        Refused: {status} {type}
      </p>
      <blockquote>{message}</blockquote>
    </>
  );
}

function promptText(
  { tokens, cacheRead }: NonNullable<Accepted["prompt"]>,
  behind: Answer["behind"],
  { usage }: PricedRequest,
): string {
  const counted = `A prompt of ~${tokensText(tokens)}`;
  if (behind === null)
    return `${counted}, with nothing in the cache: no request that can be replayed went before it.`;
  if (!behind.accepted)
    return `${counted}, with nothing in the cache: it refuses request ${behind.exchange}.`;
  const reported = usage === null ? "" : ` The provider reported ${tokensText(usage.cacheRead)}.`;
  const read = cacheRead === 0 ? "none" : `~${tokensText(cacheRead)}`;
  return `${counted}, ${read} of it from the cache behind request ${behind.exchange}.${reported}`;
}
