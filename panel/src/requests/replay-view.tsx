import type { PricedRequest, RouteAnswers } from "../api/contract.ts";
import { tokensText } from "../base/format.ts";
import { useFetch } from "./use-fetch.ts";

type Answer = RouteAnswers["ReplayAnswer"];
type Verdict = Answer["verdict"];
type Accepted = Extract<Verdict, { readonly accepted: true }>;
type Refused = Extract<Verdict, { readonly accepted: false }>;

export type ReplayViewProps = { readonly path: string; readonly row: PricedRequest };

/** The verdict of Aperture's strict model API on the upstream request. */
export function ReplayView({ path, row }: ReplayViewProps) {
  const { data, error } = useFetch<Answer>(`${path}/replay`, row.outcome);
  return (
    <section className="replay" aria-label="Replay" aria-live="polite">
      {error === null ? null : <p className="verdict refused">{error.message}</p>}
      {data === null && error === null ? <p className="loading">Replaying…</p> : null}
      {data === null ? null : <Outcome answer={data} row={row} />}
      <p className="dim">
        Aperture checked the request with the strict model API of its demo. It sent nothing and used no key.
        The strict API counts tokens in its own way, allows every known beta, and does not check signatures.
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
        Rejected: {status} {type}
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
  if (behind === null) return `${counted}, with nothing in the cache: no earlier request can be replayed.`;
  if (!behind.accepted)
    return `${counted}, with nothing in the cache: request ${behind.exchange} before it is rejected.`;
  const reported = usage === null ? "" : ` The provider reported ${tokensText(usage.cacheRead)}.`;
  const read = cacheRead === 0 ? "none" : `~${tokensText(cacheRead)}`;
  return `${counted}, ${read} of it read from the cache of request ${behind.exchange}.${reported}`;
}
