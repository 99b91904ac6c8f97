import { limits, type StreamId } from "../base/index.ts";
import type { Block } from "../engine/index.ts";
import { anchorOf, type Pending, type Priority, pendingOf, priorities } from "./activation.ts";
import type { Agent } from "./agent.ts";
import type { Draft } from "./draft.ts";
import type { WireBlock } from "./provider.ts";
import { mediaBlock } from "./shown-block.ts";
import type { SpaceLog } from "./space-log.ts";
import type { Standing } from "./standing.ts";
import { scopePrefix } from "./tail.ts";
import { wireBytes } from "./takeable.ts";

/** Something that happened outside and is to be known inside. What happens together is one frame. */
export type Happening =
  | {
      readonly type: "said";
      readonly stream: string;
      readonly speaker: string;
      readonly text: string;
      /** Pictures and the like, in the form of the Messages interface. */
      readonly media?: readonly WireBlock[];
      /** Only for whoever is asked to act in this very frame. */
      readonly ephemeral?: boolean;
      /** Nobody vouches for it: what it asks for is not what a user asks for. */
      readonly untrusted?: boolean;
    }
  /** Told for good. Without a stream: to every stream that is opened from now on. */
  | { readonly type: "told"; readonly text: string; readonly stream?: string }
  /** What is around: the file that is open, the state of a build. Null: it is there no longer. */
  | {
      readonly type: "around";
      readonly name: string;
      readonly text: string | null;
      readonly stream?: string;
      /** Shown only while the scope of that name is open. */
      readonly during?: string;
      /** You vouch for it: what it says cannot have come from outside. Left out, nobody does. */
      readonly trusted?: boolean;
    }
  | { readonly type: "scope"; readonly name: string; readonly open: boolean; readonly stream?: string }
  | {
      readonly type: "activate";
      readonly agent: string;
      readonly stream: string;
      readonly priority?: Priority;
      readonly reason?: string;
    };

export type HappeningPlace = {
  readonly log: SpaceLog;
  readonly standing: Standing;
  readonly root: StreamId;
  /** Contract: the stream is open. */
  readonly streamOf: (name: string) => StreamId;
  readonly agents: readonly Agent[];
  /** What is asked of agents and has not begun. */
  readonly waiting: readonly Pending[];
};

/** Puts what happened into the frame that tells of it. */
export function draftHappening(place: HappeningPlace, draft: Draft, happening: Happening): void {
  switch (happening.type) {
    case "said":
      said(place, draft, happening);
      return;
    case "told": {
      const stream = streamIn(place, happening);
      draft.text({ kind: "system", stream, speaker: "space", taint: "user", text: happening.text });
      return;
    }
    case "around":
      around(place, draft, happening);
      return;
    case "scope": {
      const { name, open, stream } = happening;
      const where = stream === undefined ? {} : { stream };
      around(place, draft, {
        type: "around",
        name: `${scopePrefix}${name}`,
        text: open ? "" : null,
        ...where,
      });
      return;
    }
    case "activate":
      activate(place, draft, happening);
  }
}

type Of<T extends Happening["type"]> = Extract<Happening, { type: T }>;

function said(place: HappeningPlace, draft: Draft, happening: Of<"said">): void {
  const { speaker, text, media = [], ephemeral = false, untrusted = false } = happening;
  const stream = place.streamOf(happening.stream);
  const taint = untrusted ? "untrusted" : "user";
  const message = draft.message(stream);
  const common = { stream, speaker, taint, message, ephemeral } as const;
  draft.text({ ...common, kind: "user", text });
  for (const block of media) draft.block({ ...common, kind: "media", bytes: wireBytes(mediaBlock(block)) });
  for (const { name, wakes } of place.agents) {
    const isWoken = name !== speaker && wakes?.({ stream: happening.stream, speaker, text });
    if (isWoken) activate(place, draft, { type: "activate", agent: name, stream: happening.stream });
  }
}

/** What is around by a name is there once, in its latest form. */
function around(place: HappeningPlace, draft: Draft, happening: Of<"around">): void {
  const { name, text, during, trusted = false } = happening;
  const stream = streamIn(place, happening);
  const before = [...place.standing.of(place.log.moment(), stream, "ambient"), ...draft.added()];
  const isSame = (block: Block): boolean =>
    block.kind === "ambient" && block.anchor === name && block.stream === stream;
  for (const { id } of before.filter(isSame)) draft.remove(id);
  if (text === null) return;
  const scoped = during === undefined ? {} : { during };
  draft.text({
    kind: "ambient",
    stream,
    speaker: "space",
    taint: trusted ? "user" : "untrusted",
    anchor: name,
    text,
    ...scoped,
  });
}

/**
 * An agent that is asked already in this stream, and has not begun, is asked again only if that brings it
 * something: that it is more urgent, another reason, or a word for this moment. It answers all of it at once.
 */
function activate(place: HappeningPlace, draft: Draft, happening: Of<"activate">): void {
  const { agent, priority = "normal", reason = null } = happening;
  const stream = place.streamOf(happening.stream);
  const why = reason === null ? null : reason.slice(0, limits.reasonCharsMax / 4);
  const anchor = anchorOf({ agent, priority, reason: why });
  const drafted = pendingOf(draft.added().map((block) => ({ ...block, addedSeq: place.log.state().seq })));
  const rank = (one: Priority): number => priorities.indexOf(one);
  const isEnough = ({ block, activation }: Pending): boolean =>
    block.stream === stream &&
    activation.agent === agent &&
    rank(activation.priority) >= rank(priority) &&
    (why === null || why === activation.reason);
  const isPassing = (block: Block): boolean => block.stream === stream && block.ephemeral === true;
  const known = draft.added().some(isPassing) ? drafted : [...place.waiting, ...drafted];
  if (known.some(isEnough)) return;
  draft.text({ kind: "activation", stream, speaker: "space", taint: "user", anchor, text: "" });
}

function streamIn(place: HappeningPlace, { stream }: { readonly stream?: string }): StreamId {
  return stream === undefined ? place.root : place.streamOf(stream);
}
