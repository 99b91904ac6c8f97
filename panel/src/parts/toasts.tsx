import { useEffect } from "react";
import { createStore, useStore } from "../base/store.ts";

/** Something worth saying that passes by itself. */
export type Toast = {
  readonly id: number;
  readonly words: string;
  readonly kind: "status" | "alert";
  readonly offer: Offer | null;
  /** A newer one about the same takes its place. */
  readonly about: string | null;
};

/** What can be done about it, as long as it is shown. */
export type Offer = { readonly title: string; readonly run: () => void };

const shownMax = 3;
const shownMs = 8_000;
const toasts = createStore<readonly Toast[]>([]);
const paused = createStore(false);
let lastId = 0;

export function say(words: string, offer: Offer | null = null, about: string | null = null): void {
  add({ words, offer, kind: "status", about });
}

export function warn(words: string): void {
  add({ words, offer: null, kind: "alert", about: null });
}

function add(toast: Omit<Toast, "id">): void {
  lastId += 1;
  const added = { ...toast, id: lastId };
  toasts.set((before) => [...before.filter((each) => !isSame(each, added)), added].slice(-shownMax));
}

function isSame(one: Toast, other: Toast): boolean {
  return one.about !== null && one.about === other.about;
}

function remove(id: number): void {
  toasts.set((before) => before.filter((toast) => toast.id !== id));
}

/** Pointing at them, or moving into them, holds them. */
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
      <span>{toast.words}</span>
      {toast.offer === null ? null : (
        <button
          type="button"
          className="button small"
          onClick={() => {
            toast.offer?.run();
            remove(toast.id);
          }}
        >
          {toast.offer.title}
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
