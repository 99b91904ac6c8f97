import type { HeaderMode, ManifestOptions, ManifestVariant } from "../notes/index.ts";
import type { CommandForm } from "./request-head.ts";

/** How our notes describe the context to the model. A change applies to requests from then on. */
export type Awareness = {
  readonly headers: HeaderMode;
  readonly manifest: "on" | "off";
  readonly variant: ManifestVariant;
  /** Whether the manifest says how full the window is. */
  readonly fill: ManifestOptions["fill"];
  /** How the model writes commands. A session that has begun keeps its form. */
  readonly commands: CommandForm;
  /** How far the user's clock is ahead of UTC. */
  readonly zoneMinutes: number;
};

export const defaultAwareness: Awareness = {
  headers: "compact",
  manifest: "on",
  variant: "text",
  fill: "shown",
  commands: "tools",
  zoneMinutes: 0,
};
