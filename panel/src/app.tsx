import { useState } from "react";
import { type Connection, useConnection } from "./api/live.ts";
import { useCommands } from "./base/commands.ts";
import type { Route, SessionRoute } from "./base/paths.ts";
import { go, useRoute } from "./base/route.ts";
import { useStore } from "./base/store.ts";
import { nextTheme, theme } from "./base/theme.ts";
import { clockText } from "./base/words.ts";
import { Banner } from "./parts/banner.tsx";
import { KeysHelp } from "./parts/keys-help.tsx";
import { Palette } from "./parts/palette.tsx";
import { LoggedOut } from "./parts/problem.tsx";
import { Toasts } from "./parts/toasts.tsx";
import { ApprovalsScreen } from "./screens/approvals.tsx";
import { ContextScreen } from "./screens/context.tsx";
import { RequestsScreen } from "./screens/requests.tsx";
import { SessionShell } from "./screens/session-shell.tsx";
import { SessionsScreen } from "./screens/sessions.tsx";

type Open = "palette" | "keys" | null;

export function App() {
  const route = useRoute();
  const connection = useConnection();
  const [open, setOpen] = useState<Open>(null);
  const group = "Panel";
  useCommands([
    {
      id: "go-sessions",
      title: "Go to Sessions",
      keys: ["g s"],
      group: "Go",
      run: () => go({ screen: "sessions" }),
    },
    { id: "palette", title: "Command palette", keys: ["Ctrl+k"], group, run: () => setOpen("palette") },
    { id: "keys", title: "Keyboard", keys: ["?"], group, run: () => setOpen("keys") },
    { id: "theme", title: "Next theme", keys: ["t"], group, run: nextTheme },
  ]);
  return (
    <div className="app">
      <TopBar connection={connection} onOpen={setOpen} />
      <Banner connection={connection} />
      {connection.is === "loggedOut" && connection.sinceMs === null ? (
        <LoggedOut />
      ) : (
        <Screen route={route} />
      )}
      <Toasts />
      {open === "palette" ? <Palette onClose={() => setOpen(null)} /> : null}
      {open === "keys" ? <KeysHelp onClose={() => setOpen(null)} /> : null}
    </div>
  );
}

function Screen({ route }: { readonly route: Route }) {
  switch (route.screen) {
    case "sessions":
      return (
        <main className="screen">
          <SessionsScreen />
        </main>
      );
    case "unknown":
      return (
        <main className="screen">
          <section className="problem-page">
            <h1>Not there</h1>
            <p>The panel has no page {route.path}.</p>
            <a className="button" href="/">
              All sessions
            </a>
          </section>
        </main>
      );
    case "context":
    case "requests":
    case "approvals":
      return (
        <SessionShell route={route} key={route.session}>
          <SessionScreen route={route} />
        </SessionShell>
      );
  }
}

function SessionScreen({ route }: { readonly route: SessionRoute }) {
  const { session } = route;
  if (route.screen === "context") return <ContextScreen route={route} key={route.stream} />;
  if (route.screen === "approvals") return <ApprovalsScreen session={session} />;
  return <RequestsScreen session={session} exchange={route.exchange} tab={route.tab} />;
}

type TopBarProps = { readonly connection: Connection; readonly onOpen: (open: Open) => void };

function TopBar({ connection, onOpen }: TopBarProps) {
  const chosen = useStore(theme);
  return (
    <header className="top-bar">
      <a
        className="brand"
        href="/"
        onClick={(event) => {
          event.preventDefault();
          go({ screen: "sessions" });
        }}
      >
        <span className="brand-ring" aria-hidden="true" />
        Aperture
      </a>
      <ConnectionPill connection={connection} />
      <span className="spring" />
      <button type="button" className="button quiet" onClick={() => onOpen("palette")}>
        Commands <kbd>Ctrl+K</kbd>
      </button>
      <button type="button" className="button quiet" onClick={() => onOpen("keys")} aria-label="Keyboard">
        ?
      </button>
      <button type="button" className="button quiet" onClick={nextTheme}>
        <span className="theme-word">Theme: </span>
        {chosen}
      </button>
    </header>
  );
}

/** Old numbers are never shown as live. */
function ConnectionPill({ connection }: { readonly connection: Connection }) {
  const words = {
    connecting: "connecting…",
    live: "live",
    loggedOut: "logged out",
    ended: connection.is === "ended" ? `ended at ${clockText(connection.sinceMs)}` : "",
    stale: connection.is === "stale" ? `stale since ${clockText(connection.sinceMs)}, reconnecting` : "",
  }[connection.is];
  return (
    <span className={`pill ${connection.is}`} role="status">
      {words}
    </span>
  );
}
