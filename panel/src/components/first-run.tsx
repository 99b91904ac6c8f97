import { type ReactNode, useEffect, useState } from "react";
import type { HealthAnswer } from "../api/contract.ts";
import { CopyLine } from "./copy-line.tsx";

/** The start page before the first request: a checklist, and how to connect a client. */
export function FirstRun({ health }: { readonly health: HealthAnswer | null }) {
  const seconds = useSeconds();
  return (
    <section className="first-run">
      <h1>Waiting for the first request</h1>
      <ul className="checklist">
        <Check isDone>Proxy and panel on {location.host}</Check>
        <Check isDone={health?.storage === "ok"}>
          Storage {health === null ? "…" : health.storage}
          {health?.message === null || health === null ? "" : `: ${health.message}`}
        </Check>
        <Check isDone={false}>First request of a client (waiting for {secondsText(seconds)})</Check>
      </ul>
      {seconds < lateSeconds ? null : (
        <p className="late" role="status">
          No request has arrived yet. If a client is running, it uses another address: some clients read it
          from their settings, not from the environment. <code>aperture doctor</code> checks this.
        </p>
      )}
      <h2>Connect a client</h2>
      {clientLines(location.origin).map(({ client, line }) => (
        <CopyLine key={client} name={client} line={line} />
      ))}
      <h2>No API key?</h2>
      <p>The demo plays a working day of an agent against a model on this machine. It costs nothing.</p>
      <CopyLine name="demo" line="aperture demo" />
    </section>
  );
}

/** A client that uses this address has sent a request by then. */
const lateSeconds = 30;

function secondsText(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

function useSeconds(): number {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const start = Date.now();
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - start) / 1_000)), 1_000);
    return () => clearInterval(timer);
  }, []);
  return seconds;
}

function Check({ isDone, children }: { readonly isDone: boolean; readonly children: ReactNode }) {
  return (
    <li className={isDone ? "done" : "waiting"}>
      {children}
      <span className="hidden-label">{isDone ? " (done)" : " (waiting)"}</span>
    </li>
  );
}

function clientLines(origin: string) {
  return [
    { client: "Claude Code", line: "aperture run claude" },
    { client: "any shell", line: `ANTHROPIC_BASE_URL=${origin} claude` },
    { client: "fish", line: `env ANTHROPIC_BASE_URL=${origin} claude` },
    { client: "PowerShell", line: `$env:ANTHROPIC_BASE_URL="${origin}"; claude` },
    { client: "TypeScript", line: `new Anthropic({ baseURL: "${origin}" })` },
    { client: "Python", line: `Anthropic(base_url="${origin}")` },
  ];
}
