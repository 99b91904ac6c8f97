import { useEffect } from "react";
import { createStore, type Store, useStore } from "../base/store.ts";
import { CallError, read } from "./client.ts";
import type { HealthAnswer, ViewerEvent } from "./contract.ts";

/** Whether what is on the screen is still what is. */
export type Connection =
  | { readonly is: "connecting" | "live" }
  /** Broken off; ended by somebody; or not ours to look at any more. */
  | { readonly is: "stale" | "ended"; readonly sinceMs: number }
  /** Null: it never was. */
  | { readonly is: "loggedOut"; readonly sinceMs: number | null };

const connection: Store<Connection> = createStore<Connection>({ is: "connecting" });

export function useConnection(): Connection {
  return useStore(connection);
}

type Listener = (event: ViewerEvent) => void;

/** Follows one session, or all of them. The browser comes back by itself, with the last id it has seen. */
export function useEvents(session: string | null, listener: Listener): void {
  useEffect(() => follow(session, listener), [session, listener]);
}

const kinds = ["frame", "request", "notice", "degraded", "resync"] as const;
const againMs = 2_000;
/** A login in another window of this browser is one here too. */
const loginAgainMs = 5_000;

function follow(session: string | null, listener: Listener): () => void {
  let source: EventSource | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let hasBeenOpen = false;
  const open = (): void => {
    const query = session === null ? "" : `?session=${encodeURIComponent(session)}`;
    const opened = new EventSource(`/api/v1/events${query}`);
    source = opened;
    opened.onopen = () => {
      connection.set({ is: "live" });
      // Between two connections anything may have happened.
      if (hasBeenOpen) listener({ type: "resync", session: null, seq: null });
      hasBeenOpen = true;
    };
    opened.onerror = () => {
      connection.set((before) => ("sinceMs" in before ? before : { is: "stale", sinceMs: Date.now() }));
      // Refused rather than broken: the browser gives up, so it is asked why, and tried again.
      if (opened.readyState !== EventSource.CLOSED) return;
      void isLoggedOut().then((isOut) => {
        // Closed meanwhile, or opened anew: nobody waits for this one any more.
        if (source !== opened) return;
        if (isOut) connection.set({ is: "loggedOut", sinceMs: hasBeenOpen ? Date.now() : null });
        timer = setTimeout(open, isOut ? loginAgainMs : againMs);
      });
    };
    opened.addEventListener("ended", () => connection.set({ is: "ended", sinceMs: Date.now() }));
    for (const kind of kinds) {
      opened.addEventListener(kind, (message) => listener(JSON.parse(message.data) as ViewerEvent));
    }
  };
  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };
  // A page that is being left hears its connection break, and has nobody to tell.
  addEventListener("pagehide", close);
  const openAgain = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) open();
  };
  addEventListener("pageshow", openAgain);
  open();
  return () => {
    removeEventListener("pagehide", close);
    removeEventListener("pageshow", openAgain);
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
