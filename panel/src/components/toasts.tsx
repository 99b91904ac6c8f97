import { useEffect } from "react";
import { createStore, useStore } from "../base/store.ts";

/** A short message that disappears by itself. */
export type Toast = {
  readonly id: number;
  readonly text: string;
  readonly kind: "status" | "alert";
  readonly button: ToastButton | null;
  /** A newer toast with the same topic replaces this one. */
  readonly topic: string | null;
};

export type ToastButton = { readonly title: string; readonly run: () => void };

const shownMax = 3;
const shownMs = 8_000;
const toasts = createStore<readonly Toast[]>([]);
const paused = createStore(false);
let lastId = 0;

export function showToast(text: string, options: Partial<Pick<Toast, "button" | "topic">> = {}): void {
  add({ text, button: null, topic: null, kind: "status", ...options });
}

export function showError(text: string): void {
  add({ text, button: null, topic: null, kind: "alert" });
}

function add(toast: Omit<Toast, "id">): void {
  lastId += 1;
  const added = { ...toast, id: lastId };
  toasts.set((before) => [...before.filter((each) => !hasSameTopic(each, added)), added].slice(-shownMax));
}

function hasSameTopic(one: Toast, other: Toast): boolean {
  return one.topic !== null && one.topic === other.topic;
}

function remove(id: number): void {
  toasts.set((before) => before.filter((toast) => toast.id !== id));
}

/** The list of toasts. They stay while the pointer or the focus is on them. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <section
      className="toasts"
      aria-label="Messages"
      onPointerEnter={() => paused.set(true)}
      onPointerLeave={() => paused.set(false)}
      onFocus={() => paused.set(true)}
      onBlur={() => paused.set(false)}
    >
      {shown.map((toast) => (
        <ToastLine key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastLine({ toast }: { readonly toast: Toast }) {
  const isPaused = useStore(paused);
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => remove(toast.id), shownMs);
    return () => clearTimeout(timer);
  }, [isPaused, toast.id]);
  return (
    <div className={`toast ${toast.kind}`} role={toast.kind}>
      <span>{toast.text}</span>
      {toast.button === null ? null : (
        <button
          type="button"
          className="button small"
          onClick={() => {
            toast.button?.run();
            remove(toast.id);
          }}
        >
          {toast.button.title}
        </button>
      )}
      <button
        type="button"
        className="button quiet small"
        aria-label="Dismiss"
        onClick={() => remove(toast.id)}
      >
        ×
      </button>
    </div>
  );
}
