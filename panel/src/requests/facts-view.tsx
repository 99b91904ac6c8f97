import type { PricedRequestDetail } from "../api/contract.ts";
import { bytesText, clockText } from "../base/format.ts";
import { Fact } from "../components/facts.tsx";
import { addedText, outcomeText, renderingText, roleText } from "./request-text.ts";

const sideNames: Readonly<Record<string, string>> = {
  "client-request": "client request",
  "upstream-request": "upstream request",
  "upstream-response": "upstream response",
  "client-response": "client response",
};

/** The recorded facts of a request besides its bodies. Headers are not recorded. */
export function FactsView({ detail }: { readonly detail: PricedRequestDetail }) {
  const { request, bodies, attempts } = detail;
  return (
    <section className="request-facts" aria-label="Facts">
      <p className="note">
        Aperture records no headers, because they contain credentials. It passes them on, except connection
        and length headers and those that start with <code>x-aperture-</code>.
      </p>
      <dl className="facts wide">
        <Fact name="target">{request.target}</Fact>
        <Fact name="request id">{request.request}</Fact>
        <Fact name="purpose">{roleText(request)}</Fact>
        <Fact name="model">{request.model ?? "unknown"}</Fact>
        <Fact name="sent">{renderingText[request.rendering]}</Fact>
        <Fact name="status">
          {outcomeText(request)}
          {request.stop === null ? "" : `, stop reason ${request.stop}`}
        </Fact>
        {request.time === null ? null : <Fact name="time">{clockText(request.time)}</Fact>}
        <Fact name="duration">
          {request.totalMs === null ? "in progress" : `${request.totalMs} ms`}
          {request.firstByteMs === null ? "" : `, first byte after ${request.firstByteMs} ms`}
          {request.addedMs === null ? "" : `, ${addedText(request.addedMs)} added by Aperture`}
        </Fact>
        {request.rewrite === null ? null : <Fact name="rewrite">{request.rewrite.why}</Fact>}
        {request.problem === null ? null : <Fact name="problem">{request.problem}</Fact>}
        {attempts.length < 2 ? null : (
          <Fact name="attempts">{attempts.map((one) => `${one.id}: ${outcomeText(one)}`).join(", ")}</Fact>
        )}
        {bodies.map(({ side, length, hash }) => (
          <Fact key={side} name={sideNames[side] ?? side}>
            {bytesText(length)} <code className="dim">{hash.slice(0, 16)}</code>
          </Fact>
        ))}
      </dl>
    </section>
  );
}
