import type { Asking, RememberedStream } from "../desk-port.ts";
import type { LedgerQuestion } from "../read/questions.ts";
import type { Belonging } from "../record/identify.ts";
import { takeBriefing } from "./awareness.ts";
import { type Line, openLine, startOver, withholdIn } from "./line.ts";
import { keyOf, type Lines } from "./lines.ts";
import { SessionNumbers } from "./numbers.ts";
import { questionOf, type Read } from "./read-request.ts";
import { recall } from "./remember.ts";
import { Withholding } from "./withholding.ts";

export type OpenerPlace = {
  /** The mark of our lines in a stream: always the same for one name, and not to be guessed. */
  readonly nonceOf: (name: string) => string;
  readonly newName: () => string;
  /** What the log knows; rejects or stays silent where it cannot be asked. */
  readonly remember: (question: LedgerQuestion) => Promise<RememberedStream | null>;
  /** Another number whenever the record may have lost something that it was told of a line. */
  readonly recordOf: (line: string) => number;
  readonly deadlineMs?: number;
  /** What is withheld, as far as that is known without asking; nothing where nothing is said. */
  readonly withholding?: Withholding;
};

/** How long a request waits for what the desk has forgotten. */
const usualDeadlineMs = 250;
/** A talk that begins has nothing to lose but the numbers of its first blocks. */
const firstDeadlineMs = 50;

type Known = {
  readonly wasManaged: boolean | "unknown";
  readonly talkName: string | null;
  readonly isAsked: boolean;
  /** Where the session's numbers stand; null: nobody knows. */
  readonly numbersOf: SessionNumbers | null;
};

/** Opens lines for requests whose stream the desk has not in memory, from the log where it knows them. */
export class LineOpener {
  readonly #place: OpenerPlace;
  readonly #lines: Lines;
  readonly #withholding: Withholding;
  readonly #remembering = new Map<string, Promise<Line>>();

  constructor(place: OpenerPlace, lines: Lines) {
    this.#place = place;
    this.#lines = lines;
    this.#withholding = place.withholding ?? new Withholding([]);
  }

  /** Whether the numbers for a talk that begins are known without asking. */
  canNumber({ asking, belonging }: Read): boolean {
    return belonging.sessionKey === null || this.#lines.numbersOf(sessionOf(asking, belonging)) !== null;
  }

  /** For a talk that begins. */
  begin(read: Read): Line {
    const { asking, belonging } = read;
    const isNameless = belonging.sessionKey === null;
    const known = isNameless ? null : this.#lines.numbersOf(sessionOf(asking, belonging));
    const numbersOf = isNameless ? new SessionNumbers() : known;
    return this.#open(read, { wasManaged: false, talkName: null, isAsked: false, numbersOf });
  }

  /** Requests of a stream that was forgotten wait for the same answer, and none asks again before it came. */
  remembered(read: Read): Promise<Line> {
    const { asking, belonging, request } = read;
    const key = keyOf(asking, belonging);
    const talk = belonging.sessionKey === null ? [asking.caller.credential, ...request.talk] : [];
    const name = [key, ...talk].join(" ");
    const known = this.#remembering.get(name);
    if (known !== undefined) return known;
    const asked = this.#place.remember(questionOf(read));
    const line = this.#lineFor(read, asked);
    this.#remembering.set(name, line);
    void Promise.allSettled([asked, line]).then(() => this.#remembering.delete(name));
    return line;
  }

  /**
   * Has a line numbered that began without numbers. What is sent meanwhile has none, so that the log, which
   * has given it some by then, is asked once more with the next turn.
   */
  learnNumbers(line: Line, read: Read): void {
    const isNumbered = line.numbers.isReady && !line.isUnnumbered;
    if (isNumbered || this.#remembering.has(line.key)) return;
    line.isUnnumbered = false;
    const learnt = this.#place.remember(questionOf(read)).then(
      // A log that knows nothing of what was sent before cannot say where its numbers stand.
      (stream) => (stream === null ? undefined : this.#number(line, stream)),
      () => undefined,
    );
    this.#remembering.set(
      line.key,
      learnt.then(() => line),
    );
    void learnt.then(() => this.#remembering.delete(line.key));
  }

  /** Has the log tell of a line from now on that it was not told of, as it passes as it comes. */
  acquaint(line: Line, read: Read): void {
    if (line.briefing !== null) return;
    line.isUnnumbered = true;
    this.learnNumbers(line, read);
  }

  #number(line: Line, stream: RememberedStream | null): void {
    const session = this.#lines.numbersOf(line.session) ?? new SessionNumbers(stream?.next);
    line.numbers.begin(session, stream?.blocks ?? []);
    if (stream !== null) line.ledger.catchUp(stream.turn);
    const briefing = stream?.briefing ?? null;
    if (briefing !== null) takeBriefing(line, briefing, this.#withholding);
    line.ledger.renumber();
  }

  /** What comes too late for one request serves the next, unless something was sent meanwhile. */
  async #lineFor(read: Read, asked: Promise<RememberedStream | null>): Promise<Line> {
    const begins = isFirst(read);
    const answer = await within(
      this.#place.deadlineMs ?? (begins ? firstDeadlineMs : usualDeadlineMs),
      asked,
    );
    if (answer !== "late") return this.#recalled(read, answer);
    if (begins) return this.begin(read);
    const isOurs = this.#lines.wasManaged(keyOf(read.asking, read.belonging));
    const wasManaged = isOurs ? true : "unknown";
    const unsure = this.#open(read, { wasManaged, talkName: null, isAsked: false, numbersOf: null });
    this.#lines.forget(unsure);
    const serve = (late: RememberedStream | null): void => {
      if (!this.#lines.has(unsure)) this.#recalled(read, late);
    };
    asked.then(serve, () => undefined);
    return unsure;
  }

  #recalled(read: Read, stream: RememberedStream | null): Line {
    const { asking, belonging } = read;
    const isOurs = this.#lines.wasManaged(keyOf(asking, belonging));
    const { wasManaged, talkName } = stream ?? { wasManaged: isOurs, talkName: null };
    // A history that nobody knows may be one whose record was lost.
    const isAsked = stream?.isKnown === true;
    // Another request of the same talk, in other words, may have asked at the same time.
    const sessionKey = belonging.sessionKey ?? talkName;
    const open = sessionKey === null ? null : this.#lines.get(keyOf(asking, { ...belonging, sessionKey }));
    if (open !== null) return open;
    const line = this.#open(read, { wasManaged, talkName, isAsked, numbersOf: null });
    try {
      if (isAsked) recall(line, stream);
    } catch {
      // A memory that makes no sense is none.
      startOver(line);
    }
    this.#number(line, stream);
    return line;
  }

  #open(read: Read, known: Known): Line {
    const { asking, request, belonging } = read;
    const talkName = belonging.sessionKey === null ? (known.talkName ?? this.#place.newName()) : null;
    const named = { ...belonging, sessionKey: belonging.sessionKey ?? talkName };
    const key = keyOf(asking, named);
    const { wasManaged, numbersOf } = known;
    // A talk without a name is told by what the model said in it, so one without answers is new.
    const isAsked = known.isAsked || (talkName !== null && isFirst(read));
    const [nonce, record] = [this.#place.nonceOf(key), this.#place.recordOf(key)];
    const session = sessionOf(asking, named);
    const line = openLine({ key, session, talkName, nonce, wasManaged, isAsked, record, numbersOf });
    line.countsAll = isFirst(read);
    // Until the log says otherwise. A talk without a name that begins is none of those that were led before.
    if (belonging.sessionKey !== null || !isFirst(read))
      withholdIn(line, this.#withholding.for(asking, belonging));
    this.#lines.add(asking, request, line);
    return line;
  }
}

/** Whether the model has not said anything yet. */
export function isFirst({ request }: Read): boolean {
  return !request.messages.some(({ role }) => role === "assistant");
}

/** The name of a session, which all its streams share. */
function sessionOf(asking: Asking, belonging: Belonging): string {
  return keyOf(asking, { ...belonging, agent: null });
}

function within<T>(ms: number, promise: Promise<T>): Promise<T | "late"> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve("late"), ms);
    promise.then(resolve, () => resolve("late")).finally(() => clearTimeout(timer));
  });
}
