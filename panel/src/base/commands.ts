import { type RefObject, useEffect, useRef } from "react";
import { type Command, commandFor, isKeyOf, keyName } from "./keys.ts";
import { createStore, useStore } from "./store.ts";

/** Who offers something now, the innermost last: it wins where two have the same key. */
const offered = createStore<readonly RefObject<readonly Command[]>[]>([]);

/** Offers commands while a part of the page is there: always those of its last look, never older ones. */
export function useCommands(commands: readonly Command[]): void {
  const newest = useRef(commands);
  useEffect(() => {
    newest.current = commands;
  });
  useEffect(() => {
    offered.set((before) => [...before, newest]);
    return () => offered.set((before) => before.filter((each) => each !== newest));
  }, []);
}

export function useOffered(): readonly Command[] {
  return withoutTwins(useStore(offered).flatMap(({ current }) => current));
}

function withoutTwins(all: readonly Command[]): readonly Command[] {
  return [...new Map(all.map((command) => [command.id, command])).values()];
}

const lettersKey = "aperture-single-keys";

/** Single letters can be switched off by those whose voice or hand types them by mistake. */
export const singleKeys = createStore(localStorage.getItem(lettersKey) !== "off");
singleKeys.watch(() => localStorage.setItem(lettersKey, singleKeys.get() ? "on" : "off"));

const chordMs = 1_200;
let pendingChord: { readonly key: string; readonly atMs: number } | null = null;

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const typed = keyName(event);
  const isBare = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isBare && isTyping(event)) return;
  if (isBare && event.key.length === 1 && !singleKeys.get()) return;
  if ((event.key === "Enter" || event.key === " ") && isControl(event.target)) return;
  if (isInDialog(event.target) && !typed.startsWith("Ctrl")) return;
  const begun = pendingChord !== null && Date.now() - pendingChord.atMs < chordMs ? pendingChord.key : null;
  const commands = offered.get().flatMap(({ current }) => current);
  const found =
    (begun === null ? null : commandFor(`${begun} ${typed}`, commands)) ?? commandFor(typed, commands);
  pendingChord = found === "chord" ? { key: typed, atMs: Date.now() } : null;
  if (found === null || found === "chord") return;
  event.preventDefault();
  found.run();
}

addEventListener("keydown", onKey);

/** Letters and arrows alike: a list is gone through and a choice made with them. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const field = target.closest("input, textarea, select, [contenteditable]");
  return field !== null && isKeyOf(field instanceof HTMLInputElement ? field.type : "text", key);
}

/** What a control does by itself when it has the focus is not taken from it. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a[href], summary, input, select") !== null;
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("dialog") !== null;
}
