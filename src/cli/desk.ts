import { createHmac, randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apertureError, type Clock } from "../base/index.ts";
import { type Mode, pricesOf } from "../config/index.ts";
import {
  type Awareness,
  type Engine,
  type EngineEvent,
  type Handling,
  readWithheld,
  SessionDesk,
  type WindowTable,
  Withholding,
  windowIn,
  withheldFile,
} from "../session/index.ts";

export type DeskOptions = {
  readonly dataDir: string;
  readonly engine: Engine;
  /** Makes marks that nobody else can make. */
  readonly secret: Uint8Array;
  readonly mode: () => Mode;
  readonly managesLogins: boolean;
  readonly awareness: () => Awareness;
  readonly handling: () => Handling;
  readonly windows: WindowTable;
  readonly clock: Clock;
  readonly deadlineMs?: number;
};

/** Its presence says that something of ours was sent for some session, even if the database is lost. */
const markerName = "managed";

export function openDesk(options: DeskOptions): SessionDesk {
  const { dataDir, engine, secret, mode, managesLogins, clock, deadlineMs, awareness, windows } = options;
  const { handling } = options;
  const marker = join(dataDir, markerName);
  let hasManaged = existsSync(marker);
  const withholding = new Withholding(readWithheld(join(dataDir, withheldFile)));
  const desk = new SessionDesk({
    withholding,
    clock,
    mode,
    awareness,
    windowOf: (model) => windowIn(windows, model),
    pricesOf,
    handling,
    managesLogins,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    nonceOf: (name) => nonceOf(secret, name),
    newName: () => randomBytes(16).toString("hex"),
    remember: async (question) => {
      const answer = await engine.ask(question);
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.value;
    },
    command: async (asked) => {
      const answer = await engine.ask({ type: "command", ...asked });
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.value;
    },
    noteRefused: () => engine.tell(refusedNotice()),
    isRecording: () => engine.status().storage.storage === "ok",
    recordOf: (line) => engine.recordOf(line),
    isBehind: () => engine.isBehind(),
    hasManaged: () => hasManaged,
    noteManaged: () => {
      hasManaged = true;
      leaveMarker(marker);
    },
  });
  engine.watchWithheld((withheld) => withholding.note(withheld));
  engine.watchBriefings((briefing) => desk.brief(briefing));
  return desk;
}

function refusedNotice(): EngineEvent {
  const { code, message } = apertureError("AP_EDIT_REFUSED");
  return { type: "notice", session: null, code, message };
}

/** A data directory that cannot be written does not keep anything from being managed while this runs. */
function leaveMarker(path: string): void {
  try {
    writeFileSync(path, "", { mode: 0o600 });
  } catch {
    // It will be noticed by what is said about storage.
  }
}

/** Four letters or digits: short enough to stand in every line, and made anew for each session. */
function nonceOf(secret: Uint8Array, name: string): string {
  const digest = createHmac("sha256", secret).update(`nonce ${name}`).digest();
  return [...digest.subarray(0, 4)].map((byte) => "0123456789abcdefghjkmnpqrstvwxyz"[byte % 32]).join("");
}
