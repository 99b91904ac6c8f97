import type { Shown } from "../../engine/index.ts";
import type { HeaderMode, ShownMemory } from "../../render/index.ts";
import type { Numbered } from "../desk-port.ts";
import type { Carrier } from "./carrier.ts";

/** How a model commands: by calling our tools, or by lines of what it says. */
export type CommandForm = "tools" | "text";

/** What is said of ours with one request, apart from where it stands. */
export type Saying = {
  readonly headers: HeaderMode;
  /** For a head that is opened now. */
  readonly commands: CommandForm;
  readonly timeMs: number;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
  /** What the provider has counted for each token we would have. */
  readonly rate: number;
  /** For a header to name. */
  readonly names: readonly string[];
  /** What is to be in sight, whether it was said before or not. */
  readonly memories: readonly ShownMemory[];
  /** The changing part, for the way it will go; null where there is nothing to say. */
  readonly tail: (asked: TailAsked) => string | null;
};

export type TailAsked = {
  readonly carrier: Carrier;
  readonly turn: number;
  /** Whether what was said before has to be said anew. */
  readonly isEpochStart: boolean;
  /** The blocks that come with this request. */
  readonly fresh: readonly SizedBlock[];
  /** All that is sent before them, where that is not what was sent last, or nobody has told of it. */
  readonly path: () => readonly SizedBlock[];
  /** Whether the request goes on with what was sent last. */
  readonly isNext: boolean;
  /** What is shown otherwise from this request on. */
  readonly reshown: () => readonly Reshown[];
};

/** A block that a rewrite shows otherwise than before. */
export type Reshown = Pick<Numbered, "block" | "message" | "kind" | "tokens"> & {
  readonly as: Shown;
  readonly was: Shown;
};

/** A block as far as a manifest counts it. */
export type SizedBlock = Pick<Numbered, "kind" | "tokens"> & Partial<Pick<Numbered, "block" | "message">>;

/** Some blocks together: what stands in front, and the rest. */
export type BlockSum = { readonly front: Count; readonly rest: Count };
export type Count = { readonly blocks: number; readonly tokens: number };
