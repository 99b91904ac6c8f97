import type { WireRequest } from "../../protocols/index.ts";
import type { ShownMemory } from "../../render/index.ts";
import type { Briefing, CommandResult, Numbered, Sending, WantedBlock } from "../desk-port.ts";
import type { CountedPrompt } from "./counted.ts";
import { type SessionNumbers, StreamNumbers } from "./numbers.ts";
import type { BlockSum } from "./saying.ts";
import { StreamLedger } from "./stream-ledger.ts";
import { isSameWithheld, type Withheld } from "./withheld.ts";

/** A stream as the desk has it: its ledger, and how it is to be treated. */
export type Line = {
  readonly key: string;
  /** The name of its session, which other streams share. */
  readonly session: string;
  /** What the session is called where its client does not call it anything. */
  readonly talkName: string | null;
  readonly nonce: string;
  ledger: StreamLedger;
  numbers: StreamNumbers;
  /** Whether something was sent that only the log has a number for. */
  isUnnumbered: boolean;
  /** What the log last said of it; null: nothing yet. */
  briefing: Briefing | null;
  /** Whether the stream began here, so that nothing was sent that is not noted. */
  countsAll: boolean;
  /** Blocks that were sent or heard since then. */
  recent: readonly Numbered[];
  /** All of them together. */
  recentSum: BlockSum;
  /** The seq of the briefing whose names a header has told. */
  namedSeq: number;
  /** The seq of the last briefing whose changes a model has heard, so that it hears them once. */
  toldSeq: number;
  /** The summaries that were sent, and about what they cost. */
  spent: { readonly turns: number; readonly tokens: number };
  /** Blocks whose expiry is near and has been noted. */
  noted: ReadonlySet<number>;
  /** Whether it is rendered by us, as long as the mode allows it. */
  isManaged: boolean;
  /** Whether the upstream has refused something of ours: it passes as it comes until a mode is set. */
  isStoodDown: boolean;
  /** Whether anything of ours was ever sent; unknown where the log could not be asked. */
  wasManaged: boolean | "unknown";
  /** Whether the log was asked. A first request is not kept waiting, though it may be no beginning. */
  readonly isAsked: boolean;
  /** What the record was when it was last told something, see `DeskPlace`. */
  record: number;
  /** The last request, to take unchanged parts over from. */
  last: Last | null;
  lastMs: number;
  /** Requests that wait for their answer, with what they say. */
  readonly open: Map<Sending, readonly string[]>;
  /** The last prompt whose size its provider has told, and where it ended. */
  counted: CountedPrompt | null;
  /** What rewrites have freed that the log has not told of yet, and the last turn with one. */
  freed: { readonly turn: number; readonly tokens: number };
  /** Whether its provider has left out what it was asked to, as far as it was asked. */
  takesEdits: boolean;
  /** How blocks are to be shown from the next rewrite on. */
  readonly wanted: Map<number, WantedBlock>;
  /** Whether anything has come to be wanted otherwise since a rewrite was last thought of. */
  hasNews: boolean;
  /** Whether the user wants it shown now. */
  isUrged: boolean;
  /** Blocks that stay as they are, whatever happens: somebody has pinned or selected them. */
  held: ReadonlySet<number>;
  /** What was made to last, to be in sight in every request. */
  memories: readonly ShownMemory[];
  /** What must not be sent any more. */
  withheld: Withheld;
  /** What calls of our tools came to, by their ids. */
  readonly results: Map<string, CommandResult>;
  /** Set while calls are carried out. */
  doing: Promise<void> | null;
};

/** A request, and whether anybody still needs the memory of its body besides the line itself. */
export type Last = {
  readonly id: string;
  readonly request: WireRequest;
  isOver: boolean;
  hasLeft: boolean;
};

export type LineAsked = {
  readonly key: string;
  readonly session: string;
  readonly talkName: string | null;
  readonly nonce: string;
  readonly wasManaged: boolean | "unknown";
  readonly isAsked: boolean;
  readonly record: number;
  /** Where its numbers come from; null: nobody knows yet. */
  readonly numbersOf: SessionNumbers | null;
};

const none = { blocks: 0, tokens: 0 } as const;

export function openLine({ numbersOf, ...asked }: LineAsked): Line {
  const { nonce, wasManaged } = asked;
  const numbers = new StreamNumbers(numbersOf);
  return {
    ...asked,
    numbers,
    ledger: new StreamLedger({ nonce, isNew: wasManaged === false, numbers }),
    isUnnumbered: false,
    briefing: null,
    recent: [],
    recentSum: { front: none, rest: none },
    countsAll: false,
    noted: new Set(),
    namedSeq: 0,
    toldSeq: 0,
    spent: { turns: 0, tokens: 0 },
    isManaged: false,
    isStoodDown: false,
    last: null,
    lastMs: 0,
    open: new Map(),
    counted: null,
    freed: { turn: 0, tokens: 0 },
    takesEdits: true,
    wanted: new Map(),
    hasNews: false,
    isUrged: false,
    held: new Set(),
    memories: [],
    withheld: new Map(),
    results: new Map(),
    doing: null,
  };
}

/** What must not be sent any more, from now on. */
export function withholdIn(line: Line, withheld: Withheld): void {
  if (isSameWithheld(line.withheld, withheld)) return;
  // What a call came to before, and is not told yet, may hold some of it.
  if ([...withheld.keys()].some((key) => !line.withheld.has(key))) line.results.clear();
  line.withheld = withheld;
  line.ledger.withhold(withheld);
}

/** What the upstream takes from the client and not from us is not tried again until the user says so. */
export function standDown(line: Line, { noteRefused }: { readonly noteRefused?: () => void }): void {
  line.isStoodDown = true;
  noteRefused?.();
}

/** Nothing that was sent counts any more: the next request begins anew, without any old reasoning. */
export function startOver(line: Line): void {
  const { nonce, numbers } = line;
  line.ledger = new StreamLedger({ nonce, isNew: false, numbers });
  line.ledger.withhold(line.withheld);
  line.wasManaged = true;
  line.counted = null;
  line.last = null;
}

/**
 * For a talk that was only watched so far. What the log once knew of it was outrun by what has passed as it
 * came since then, which the log may even have taken for another session: the client's own words hold, and
 * the log is asked anew what they are called.
 */
export function forgetWatched(line: Line): void {
  const { nonce } = line;
  line.numbers = new StreamNumbers(null);
  line.ledger = new StreamLedger({ nonce, isNew: true, numbers: line.numbers });
  line.ledger.withhold(line.withheld);
  line.counted = null;
}
