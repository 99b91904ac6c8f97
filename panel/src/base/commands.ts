import { type RefObject, useEffect, useRef } from "react";
import { type Command, commandFor, isKeyOf, keyName } from "./keys.ts";
import { createStore, useStore } from "./store.ts";

/** The commands of each mounted component, the innermost last: it wins if two use the same key. */
const registered = createStore<readonly RefObject<readonly Command[]>[]>([]);

/** Registers the commands of a component while it is mounted, always as of its last render. */
export function useCommands(commands: readonly Command[]): void {
  const newest = useRef(commands);
  useEffect(() => {
    newest.current = commands;
  });
  useEffect(() => {
    registered.set((before) => [...before, newest]);
    return () => registered.set((before) => before.filter((each) => each !== newest));
  }, []);
}

export function useAvailableCommands(): readonly Command[] {
  return withoutDuplicates(useStore(registered).flatMap(({ current }) => current));
}

function withoutDuplicates(all: readonly Command[]): readonly Command[] {
  return [...new Map(all.map((command) => [command.id, command])).values()];
}

const lettersKey = "aperture-single-keys";

/** Users of speech input can switch single-letter shortcuts off (WCAG 2.1.4). */
export const singleKeys = createStore(localStorage.getItem(lettersKey) !== "off");
singleKeys.watch(() => localStorage.setItem(lettersKey, singleKeys.get() ? "on" : "off"));

const chordMs = 1_200;
let pendingChord: { readonly key: string; readonly atMs: number } | null = null;

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const pressed = keyName(event);
  const isBare = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (isBare && isTyping(event)) return;
  if (isBare && event.key.length === 1 && !singleKeys.get()) return;
  if ((event.key === "Enter" || event.key === " ") && isControl(event.target)) return;
  if (isInDialog(event.target) && !pressed.startsWith("Ctrl")) return;
  const begun = pendingChord !== null && Date.now() - pendingChord.atMs < chordMs ? pendingChord.key : null;
  const commands = registered.get().flatMap(({ current }) => current);
  const found =
    (begun === null ? null : commandFor(`${begun} ${pressed}`, commands)) ?? commandFor(pressed, commands);
  pendingChord = found === "chord" ? { key: pressed, atMs: Date.now() } : null;
  if (found === null || found === "chord") return;
  event.preventDefault();
  found.run();
}

addEventListener("keydown", onKey);

/** True if the focused field uses the key itself: letters to type, arrows to choose an option. */
function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  const field = target.closest("input, textarea, select, [contenteditable]");
  return field !== null && isKeyOf(field instanceof HTMLInputElement ? field.type : "text", key);
}

/** Enter and Space on a focused control keep their native meaning. */
function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("button, a[href], summary, input, select") !== null;
}

function isInDialog(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("dialog") !== null;
}
