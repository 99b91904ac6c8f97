import { useState } from "react";
import { type Connection, useConnection } from "./api/events.ts";
import { useCommands } from "./base/commands.ts";
import { clockText } from "./base/format.ts";
import { go, useRoute } from "./base/navigation.ts";
import type { Route, SessionRoute } from "./base/routes.ts";
import { useStore } from "./base/store.ts";
import { nextTheme, theme } from "./base/theme.ts";
import { Banner } from "./components/banner.tsx";
import { LoginPage } from "./components/error-page.tsx";
import { KeyboardHelp } from "./components/keyboard-help.tsx";
import { Palette } from "./components/palette.tsx";
import { Toasts } from "./components/toasts.tsx";
import { ApprovalsScreen } from "./screens/approvals.tsx";
import { ContextScreen } from "./screens/context.tsx";
import { RequestsScreen } from "./screens/requests.tsx";
import { SessionShell } from "./screens/session-shell.tsx";
import { SessionsScreen } from "./screens/sessions.tsx";

type OpenDialog = "palette" | "keys" | null;

export function App() {
  const route = useRoute();
  const connection = useConnection();
  const [open, setOpen] = useState<OpenDialog>(null);
  const group = "Panel";
  useCommands([
    {
      id: "go-sessions",
      title: "Go to Sessions",
      keys: ["g s"],
      group: "Go",
      run: () => go({ screen: "sessions" }),
    },
    {
      id: "palette",
      title: "Open the command palette",
      keys: ["Ctrl+k"],
      group,
      run: () => setOpen("palette"),
    },
    { id: "keys", title: "Show the keyboard shortcuts", keys: ["?"], group, run: () => setOpen("keys") },
    { id: "theme", title: "Switch the theme", keys: ["t"], group, run: nextTheme },
  ]);
  return (
    <div className="app">
      <TopBar connection={connection} onOpen={setOpen} />
      <Banner connection={connection} />
      {connection.status === "loggedOut" && connection.sinceMs === null ? (
        <LoginPage />
      ) : (
        <Screen route={route} />
      )}
      <Toasts />
      {open === "palette" ? <Palette onClose={() => setOpen(null)} /> : null}
      {open === "keys" ? <KeyboardHelp onClose={() => setOpen(null)} /> : null}
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
            <h1>Not found</h1>
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

type TopBarProps = { readonly connection: Connection; readonly onOpen: (open: OpenDialog) => void };

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
      <button
        type="button"
        className="button quiet"
        onClick={() => onOpen("keys")}
        aria-label="Keyboard shortcuts"
      >
        ?
      </button>
      <button type="button" className="button quiet" onClick={nextTheme}>
        <span className="theme-word">Theme: </span>
        {chosen}
      </button>
    </header>
  );
}

/** Says whether the numbers on the screen are live. */
function ConnectionPill({ connection }: { readonly connection: Connection }) {
  const text = {
    connecting: "connecting…",
    live: "live",
    loggedOut: "logged out",
    stopped: connection.status === "stopped" ? `stopped at ${clockText(connection.sinceMs)}` : "",
    stale: connection.status === "stale" ? `stale since ${clockText(connection.sinceMs)}, reconnecting` : "",
  }[connection.status];
  return (
    <span className={`pill ${connection.status}`} role="status">
      {text}
    </span>
  );
}
