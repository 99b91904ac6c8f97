import { readFileSync } from "node:fs";
import { join } from "node:path";
import { must } from "../../src/base/index.ts";
import type { BodyForm } from "../../src/engine/frames/index.ts";
import type { Awareness } from "../../src/host/index.ts";
import type { ReplyBlock } from "../../src/testing/index.ts";
import type { ClientMessage } from "../support/scripted-client.ts";

/** A session to be played, as it stands in `session.json`. */
export type GoldenSession = {
  readonly about: string;
  readonly client?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** What the clock says at the first request, where that matters to a reader. */
  readonly startsAt?: string;
  /** How the model is told of its context, where that is not as usual. */
  readonly awareness?: Partial<Awareness>;
  /** Whether blocks are lowered by themselves; off where nothing is said. */
  readonly policy?: "auto";
  /** Where requests go, and with what: a login's headers are never added to. */
  readonly upstream?: string;
  readonly isLogin?: true;
  /** Every field of the body but the messages. */
  readonly body: Fields;
  readonly steps: readonly GoldenStep[];
};
export type GoldenStep = {
  readonly note: string;
  /** The step whose history it goes on from, counted from 1; the one before where it says nothing. */
  readonly from?: number;
  /** How many messages of that history are kept; all of them where it says nothing. */
  readonly keep?: number;
  /** Messages in place of those at these positions. */
  readonly edit?: Readonly<Record<string, ClientMessage>>;
  readonly add?: readonly ClientMessage[];
  /** Whether the marks are where the messages have them; otherwise one stands on the last words of all. */
  readonly isMarked?: boolean;
  /** Other fields of the body, from this step on. */
  readonly over?: Readonly<Record<string, unknown>>;
  /** For this step alone. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly target?: string;
  readonly idleMinutes?: number;
  readonly restart?: true;
  readonly isLost?: true;
  /** From this step on. */
  readonly awareness?: Partial<Awareness>;
  /** Whether blocks are lowered by themselves; off where nothing is said. */
  readonly policy?: "auto";
  /** What the user does to the blocks that hold these words, before the request is sent. */
  readonly acts?: readonly GoldenAct[];
  readonly reply?: readonly ReplyBlock[];
  /** How it has to be sent, whatever the files say: managed where it says nothing. */
  readonly rendering?: BodyForm;
  /** Played so many times; `{n}` in its words is the number of the time. */
  readonly times?: number;
};
/** An act of the user on the blocks that hold these words. */
export type GoldenAct = {
  readonly act: "select" | "pin" | "unpin" | "archive" | "withhold";
  readonly words: readonly string[];
  readonly reason?: string;
  /** Now: the next request applies it. Otherwise it waits until that is cheap. */
  readonly when?: "now";
};
export type Fields = { readonly model: string; readonly [field: string]: unknown };

type Written = Partial<GoldenSession> & { readonly base?: string };

export const casesFolder = "test/golden/cases";
const basesFolder = "test/golden/bases";

/** The session of a case. What it does not say itself its base says, which several cases share. */
export function readSession(name: string): GoldenSession {
  const own = written(join(casesFolder, name, "session.json"));
  const base = own.base === undefined ? {} : written(join(basesFolder, `${own.base}.json`));
  const whole = { ...base, ...own, body: { ...base.body, ...own.body } } as GoldenSession;
  return { ...whole, steps: whole.steps.flatMap(repeated) };
}

/** What `sessionText` has written of a case. */
export function readSessionText(name: string): string {
  return readFileSync(join(casesFolder, name, "session.txt"), "utf8");
}

/** The manifests of a case with their token counts. */
export function readManifests(name: string): string {
  const sections = readFileSync("test/golden/manifests.txt", "utf8").split("\n\n");
  return must(
    sections.find((section) => section.startsWith(`${name}\n`)),
    `the manifests of ${name} are there`,
  );
}

/** Each request of a case as it was sent, without its frames. */
export function readRequests(name: string): readonly string[] {
  const sent = readSessionText(name).replaceAll(/^ {2}\|.*\n/gm, "");
  return sent.split(/\n\n(?=\d+\. )/).slice(1);
}

/** `{{3 x word }}` stands for a word that comes three times. */
function written(path: string): Written {
  const text = readFileSync(path, "utf8");
  const whole = text.replace(/\{\{(\d+) x ([^}]*)\}\}/g, (_, times: string, word: string) =>
    word.repeat(Number(times)),
  );
  return JSON.parse(whole) as Written;
}

function repeated(step: GoldenStep): readonly GoldenStep[] {
  const { times = 1, ...rest } = step;
  const text = JSON.stringify(rest);
  return Array.from(
    { length: times },
    (_, at) => JSON.parse(text.replaceAll("{n}", String(at + 1))) as GoldenStep,
  );
}
