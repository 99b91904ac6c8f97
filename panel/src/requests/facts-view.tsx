import type { PricedRequestDetail } from "../api/contract.ts";
import { bytesText, clockText } from "../base/words.ts";
import { Fact } from "../parts/fact.tsx";
import { addedText, outcomeText, renderingAbout, roleText } from "./row-words.ts";

const sideWords: Readonly<Record<string, string>> = {
  "client-request": "client sent",
  "upstream-request": "upstream got",
  "upstream-response": "upstream answered",
  "client-response": "client got",
};

/** What is known of a request besides its bodies; of its headers, why there are none. */
export function FactsView({ detail }: { readonly detail: PricedRequestDetail }) {
  const { request, bodies, attempts } = detail;
  return (
    <section className="request-facts" aria-label="Headers and facts">
      <p className="note">
        Headers are not recorded, so that no credential ever is. They pass as the client sent them, except
        those that speak of the connection or of the body's length, and those that begin with{" "}
        <code>x-aperture-</code>, which are for us.
      </p>
      <dl className="facts wide">
        <Fact name="target">{request.target}</Fact>
        <Fact name="request id">{request.request}</Fact>
        <Fact name="what">{roleText(request)}</Fact>
        <Fact name="model">{request.model ?? "not named"}</Fact>
        <Fact name="sent">{renderingAbout[request.rendering]}</Fact>
        <Fact name="status">
          {outcomeText(request)}
          {request.stop === null ? "" : `, stopped: ${request.stop}`}
        </Fact>
        {request.time === null ? null : <Fact name="time">{clockText(request.time)}</Fact>}
        <Fact name="took">
          {request.totalMs === null ? "still open" : `${request.totalMs} ms`}
          {request.firstByteMs === null ? "" : `, first byte after ${request.firstByteMs} ms`}
          {request.addedMs === null ? "" : `, of it added by us ${addedText(request.addedMs)}`}
        </Fact>
        {request.rewrite === null ? null : <Fact name="rewrite">{request.rewrite.why}</Fact>}
        {request.problem === null ? null : <Fact name="problem">{request.problem}</Fact>}
        {attempts.length < 2 ? null : (
          <Fact name="attempts">{attempts.map((one) => `${one.id}: ${outcomeText(one)}`).join(", ")}</Fact>
        )}
        {bodies.map(({ side, length, hash }) => (
          <Fact key={side} name={sideWords[side] ?? side}>
            {bytesText(length)} <code className="dim">{hash.slice(0, 16)}</code>
          </Fact>
        ))}
      </dl>
    </section>
  );
}
