import { fail, type Result } from "../base/index.ts";

/** What was asked for under a key, and what came of it. */
type Asked<T> = { readonly wish: string; readonly answer: Promise<Result<T>> };

/** Callers that try again do so soon. */
const keptMax = 1_000;

/**
 * What a caller sends a second time under the same key is not done a second time: it gets the first answer.
 * Nothing of it outlives the process; what was done is in the log all the same.
 */
export class Repeats<T> {
  readonly #asked = new Map<string, Asked<T>>();

  once(key: string, wish: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
    const known = this.#asked.get(key);
    if (known !== undefined) {
      const isSame = known.wish === wish;
      return isSame ? known.answer : Promise.resolve(fail("AP_INPUT_INVALID", { problem: otherWish }));
    }
    const answer = work();
    this.#asked.set(key, { wish, answer });
    const [oldest] = this.#asked.keys();
    if (this.#asked.size > keptMax && oldest !== undefined) this.#asked.delete(oldest);
    // What was refused may be tried again.
    void answer.then(({ ok }) => {
      if (!ok) this.#asked.delete(key);
    });
    return answer;
  }
}

const otherWish = "its key was used for something else; choose another one";
