import type { Frame } from "../engine/frames/index.ts";

/** How many of the latest frames are searched for changes that an agent does not know yet. */
export const recentFramesMax = 200;

/** The latest frames of a space. Agents are not told about older changes. */
export class RecentFrames {
  readonly #frames: Frame[];

  constructor(frames: readonly Frame[]) {
    this.#frames = [...frames];
  }

  add(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > recentFramesMax * 2) this.#frames.splice(0, recentFramesMax);
  }

  since(seq: number): readonly Frame[] {
    return this.#frames.slice(-recentFramesMax).filter((frame) => frame.seq > seq);
  }
}
