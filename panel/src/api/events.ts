import { useEffect } from "react";
import { createStore, type Store, useStore } from "../base/store.ts";
import { CallError, read } from "./client.ts";
import type { HealthAnswer, ViewerEvent } from "./contract.ts";

/** The state of the event stream. Unless it is `live`, the screen may be out of date. */
export type Connection =
  | { readonly status: "connecting" | "live" }
  /** The connection broke, or Aperture was stopped. */
  | { readonly status: "stale" | "stopped"; readonly sinceMs: number }
  /** `sinceMs` is null if this page was never logged in. */
  | { readonly status: "loggedOut"; readonly sinceMs: number | null };

const connection: Store<Connection> = createStore<Connection>({ status: "connecting" });

export function useConnection(): Connection {
  return useStore(connection);
}

type Listener = (event: ViewerEvent) => void;

/** Subscribes to the events of one session, or of all. The browser reconnects with the last event id. */
export function useEvents(session: string | null, listener: Listener): void {
  useEffect(() => subscribe(session, listener), [session, listener]);
}

const kinds = ["frame", "request", "notice", "degraded", "resync"] as const;
const retryMs = 2_000;
/** A login in another tab of this browser counts here too. */
const loginRetryMs = 5_000;

function subscribe(session: string | null, listener: Listener): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasBeenOpen = false;
  const open = (): void => {
    const query = session === null ? "" : `?session=${encodeURIComponent(session)}`;
    const opened = new EventSource(`/api/v1/events${query}`);
    source = opened;
    opened.onopen = () => {
      connection.set({ status: "live" });
      // Events between two connections are lost, so everything is read again.
      if (hasBeenOpen) listener({ type: "resync", session: null, seq: null });
      hasBeenOpen = true;
    };
    opened.onerror = () => {
      connection.set((before) => ("sinceMs" in before ? before : { status: "stale", sinceMs: Date.now() }));
      // The browser does not retry a refused connection, so the panel asks why and retries.
      if (opened.readyState !== EventSource.CLOSED) return;
      void isLoggedOut().then((isOut) => {
        // The component was unmounted or reconnected meanwhile.
        if (source !== opened) return;
        if (isOut) connection.set({ status: "loggedOut", sinceMs: hasBeenOpen ? Date.now() : null });
        timer = setTimeout(open, isOut ? loginRetryMs : retryMs);
      });
    };
    opened.addEventListener("ended", () => connection.set({ status: "stopped", sinceMs: Date.now() }));
    for (const kind of kinds) {
      opened.addEventListener(kind, (message) => listener(JSON.parse(message.data) as ViewerEvent));
    }
  };
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  // Leaving the page breaks the connection, which is no error to show.
  addEventListener("pagehide", close);
  const reopen = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) open();
  };
  addEventListener("pageshow", reopen);
  open();
  return () => {
    removeEventListener("pagehide", close);
    removeEventListener("pageshow", reopen);
    close();
  };
}

async function isLoggedOut(): Promise<boolean> {
  try {
    await read<HealthAnswer>("/health");
    return false;
  } catch (error) {
    return error instanceof CallError && error.isLoggedOut;
  }
}
