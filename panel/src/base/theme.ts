import { createStore } from "./store.ts";

const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const key = "aperture-theme";

export const theme = createStore<Theme>(
  themes.find((each) => each === localStorage.getItem(key)) ?? "system",
);

function apply(): void {
  document.documentElement.dataset["theme"] = theme.get();
  localStorage.setItem(key, theme.get());
}

theme.watch(apply);
apply();

export function nextTheme(): void {
  theme.set((now) => themes[(themes.indexOf(now) + 1) % themes.length] ?? "system");
}
