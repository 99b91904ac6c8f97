import type { Frame } from "../engine/index.ts";

/** So many of the latest frames are looked through for what an agent may not have been told. */
export const newsMax = 200;

/** The latest frames of a space. Older changes are not news to anybody. */
export class News {
  readonly #frames: Frame[];

  constructor(frames: readonly Frame[]) {
    this.#frames = [...frames];
  }

  note(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > newsMax * 2) this.#frames.splice(0, newsMax);
  }

  since(seq: number): readonly Frame[] {
    return this.#frames.slice(-newsMax).filter((frame) => frame.seq > seq);
  }
}
