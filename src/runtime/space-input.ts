import { limits, type StreamId } from "../base/index.ts";
import type { Block } from "../engine/frames/index.ts";
import {
  activationAnchor,
  type PendingActivation,
  type Priority,
  pendingActivations,
  priorities,
} from "./activation.ts";
import type { Agent } from "./agent.ts";
import type { BlockIndex } from "./block-index.ts";
import { scopePrefix } from "./prompt/surroundings.ts";
import type { WireBlock } from "./provider.ts";
import { wireBytes } from "./sendable.ts";
import { mediaBlock } from "./sendable-block.ts";
import type { SpaceDraft } from "./space-draft.ts";
import type { SpaceLog } from "./space-log.ts";

/**
 * Something that happened outside the space and is recorded in it. Inputs that belong together become one
 * frame.
 */
export type SpaceInput =
  | {
      readonly type: "said";
      readonly stream: string;
      readonly speaker: string;
      readonly text: string;
      /** Pictures and documents, as blocks of the Messages API. */
      readonly media?: readonly WireBlock[];
      /** Only agents that are activated in this same frame see it. */
      readonly ephemeral?: boolean;
      /** The text comes from an unknown source: requests in it are not requests of the user. */
      readonly untrusted?: boolean;
    }
  /** A lasting system text. Without a stream it holds for every stream that is opened from now on. */
  | { readonly type: "told"; readonly text: string; readonly stream?: string }
  /** The present state of something, such as an open file or a build. Text null removes it. */
  | {
      readonly type: "around";
      readonly name: string;
      readonly text: string | null;
      readonly stream?: string;
      /** Shown only while the scope of that name is open. */
      readonly during?: string;
      /** The program wrote the text itself; nothing in it comes from outside. Absent: untrusted. */
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

export type SpaceInputDeps = {
  readonly log: SpaceLog;
  readonly index: BlockIndex;
  readonly root: StreamId;
  /** Contract: the stream is open. */
  readonly streamOf: (name: string) => StreamId;
  readonly agents: readonly Agent[];
  /** Activations that no prompt has answered yet. */
  readonly notStarted: readonly PendingActivation[];
};

/** Adds an input to the draft of a frame. */
export function draftInput(deps: SpaceInputDeps, draft: SpaceDraft, input: SpaceInput): void {
  switch (input.type) {
    case "said":
      draftMessage(deps, draft, input);
      return;
    case "told": {
      const stream = streamIn(deps, input);
      draft.addText({ kind: "system", stream, speaker: "space", taint: "user", text: input.text });
      return;
    }
    case "around":
      draftAround(deps, draft, input);
      return;
    case "scope": {
      const { name, open, stream } = input;
      const inStream = stream === undefined ? {} : { stream };
      draftAround(deps, draft, {
        type: "around",
        name: `${scopePrefix}${name}`,
        text: open ? "" : null,
        ...inStream,
      });
      return;
    }
    case "activate":
      draftActivation(deps, draft, input);
  }
}

type SpaceInputOf<T extends SpaceInput["type"]> = Extract<SpaceInput, { type: T }>;

function draftMessage(deps: SpaceInputDeps, draft: SpaceDraft, input: SpaceInputOf<"said">): void {
  const { speaker, text, media = [], ephemeral = false, untrusted = false } = input;
  const stream = deps.streamOf(input.stream);
  const taint = untrusted ? "untrusted" : "user";
  const message = draft.newMessage(stream);
  const common = { stream, speaker, taint, message, ephemeral } as const;
  draft.addText({ ...common, kind: "user", text });
  for (const block of media)
    draft.addBlock({ ...common, kind: "media", bytes: wireBytes(mediaBlock(block)) });
  for (const { name, wakes } of deps.agents) {
    const isWoken = name !== speaker && wakes?.({ stream: input.stream, speaker, text });
    if (isWoken) draftActivation(deps, draft, { type: "activate", agent: name, stream: input.stream });
  }
}

/** Replaces the ambient block of that name: there is only one of a name, in its latest form. */
function draftAround(deps: SpaceInputDeps, draft: SpaceDraft, input: SpaceInputOf<"around">): void {
  const { name, text, during, trusted = false } = input;
  const stream = streamIn(deps, input);
  const before = [...deps.index.blocksOfKind(deps.log.moment(), stream, "ambient"), ...draft.addedBlocks()];
  const isSame = (block: Block): boolean =>
    block.kind === "ambient" && block.anchor === name && block.stream === stream;
  for (const { id } of before.filter(isSame)) draft.removeBlock(id);
  if (text === null) return;
  const scoped = during === undefined ? {} : { during };
  draft.addText({
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
 * Activates an agent. If an activation of it waits in this stream already, another one is added only if it is
 * more urgent, gives another reason, or comes with an ephemeral block. The agent answers all of them at once.
 */
function draftActivation(deps: SpaceInputDeps, draft: SpaceDraft, input: SpaceInputOf<"activate">): void {
  const { agent, priority = "normal", reason = null } = input;
  const stream = deps.streamOf(input.stream);
  const shortReason = reason === null ? null : reason.slice(0, limits.reasonCharsMax / 4);
  const anchor = activationAnchor({ agent, priority, reason: shortReason });
  const draftedHere = pendingActivations(
    draft.addedBlocks().map((block) => ({ ...block, addedSeq: deps.log.state().seq })),
  );
  const rank = (one: Priority): number => priorities.indexOf(one);
  const isEnough = ({ block, activation }: PendingActivation): boolean =>
    block.stream === stream &&
    activation.agent === agent &&
    rank(activation.priority) >= rank(priority) &&
    (shortReason === null || shortReason === activation.reason);
  const isEphemeralHere = (block: Block): boolean => block.stream === stream && block.ephemeral === true;
  const waiting = draft.addedBlocks().some(isEphemeralHere)
    ? draftedHere
    : [...deps.notStarted, ...draftedHere];
  if (waiting.some(isEnough)) return;
  draft.addText({ kind: "activation", stream, speaker: "space", taint: "user", anchor, text: "" });
}

function streamIn(deps: SpaceInputDeps, { stream }: { readonly stream?: string }): StreamId {
  return stream === undefined ? deps.root : deps.streamOf(stream);
}
