import { fail, type Result } from "../base/index.ts";

/** The first input under a key, and its answer. */
type KeyedAnswer<T> = { readonly input: string; readonly answer: Promise<Result<T>> };

/** Old answers may be dropped: callers that retry do so soon. */
const answersMax = 1_000;

/**
 * Returns the first answer to a request that is repeated under the same key, instead of executing it again.
 * Keys do not outlive the process; the changes themselves are in the log.
 */
export class IdempotencyCache<T> {
  readonly #answers = new Map<string, KeyedAnswer<T>>();

  once(key: string, input: string, work: () => Promise<Result<T>>): Promise<Result<T>> {
    const first = this.#answers.get(key);
    if (first !== undefined) {
      const isSame = first.input === input;
      return isSame ? first.answer : Promise.resolve(fail("AP_INPUT_INVALID", { problem: otherInput }));
    }
    const answer = work();
    this.#answers.set(key, { input, answer });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > answersMax && oldest !== undefined) this.#answers.delete(oldest);
    // A refused request may be tried again under the same key.
    void answer.then(({ ok }) => {
      if (!ok) this.#answers.delete(key);
    });
    return answer;
  }
}

const otherInput = "its key was used for something else; choose another one";
