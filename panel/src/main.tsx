import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { prefetchState } from "./api/context-state.ts";
import { App } from "./app.tsx";
import { currentRoute } from "./base/navigation.ts";
import { sessionPath } from "./context/actions.ts";
import "./style/tokens.css";
import "./style/base.css";
import "./style/strip.css";
import "./style/context.css";
import "./style/screens.css";
import "./style/sessions.css";
import "./style/requests.css";

const route = currentRoute();
if (route.screen === "context") prefetchState({ ...route, session: sessionPath(route.session) });

const root = document.querySelector("#root");
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
