import { createHmac, randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { apertureError, type Clock } from "../../base/index.ts";
import { type ConfiguredMode, pricesOf } from "../../config/index.ts";
import {
  type Awareness,
  type Engine,
  findWindow,
  SessionPlanner,
  type WindowTable,
  WithheldRegistry,
} from "../../host/index.ts";
import type { ArrivalPolicy } from "../../ledger/index.ts";
import { type EngineEvent, readWithheldFile, withheldFileName } from "../../log/index.ts";

export type AppPlannerOptions = {
  readonly dataDir: string;
  readonly engine: Engine;
  /** The key of the nonces, so that content cannot imitate our notes. */
  readonly secret: Uint8Array;
  readonly mode: () => ConfiguredMode;
  readonly managesLogins: () => boolean;
  readonly awareness: () => Awareness;
  readonly arrivalPolicy: () => ArrivalPolicy;
  readonly windows: WindowTable;
  readonly clock: Clock;
  readonly deadlineMs?: number;
};

/** This file says that some session was managed, even if the database is lost. */
const markerName = "managed";

export function openPlanner(options: AppPlannerOptions): SessionPlanner {
  const { dataDir, engine, secret, mode, managesLogins, clock, deadlineMs, awareness, windows } = options;
  const { arrivalPolicy } = options;
  const marker = join(dataDir, markerName);
  let hasManaged = existsSync(marker);
  const withheld = new WithheldRegistry(readWithheldFile(join(dataDir, withheldFileName)));
  const planner = new SessionPlanner({
    withheld,
    clock,
    mode,
    awareness,
    windowOf: (model) => findWindow(windows, model),
    pricesOf,
    arrivalPolicy,
    managesLogins,
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    nonceOf: (name) => nonceOf(secret, name),
    newSessionName: () => randomBytes(16).toString("hex"),
    lookUpStream: async (question) => {
      const answer = await engine.ask(question);
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.value;
    },
    runCommands: async (batch) => {
      const answer = await engine.ask({ type: "command", ...batch });
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.value;
    },
    noteRefused: () => engine.publish(refusedNotice()),
    isRecording: () => engine.status().storage.storage === "ok",
    recordVersionOf: (stream) => engine.recordVersionOf(stream),
    isBehind: () => engine.isBehind(),
    hasManaged: () => hasManaged,
    noteManaged: () => {
      hasManaged = true;
      writeMarker(marker);
    },
  });
  engine.watchWithheld((present) => withheld.update(present));
  engine.watchWishes((wishes) => planner.updateWishes(wishes));
  return planner;
}

function refusedNotice(): EngineEvent {
  const { code, message } = apertureError("AP_EDIT_REFUSED");
  return { type: "notice", session: null, code, message };
}

/** Managing works without the marker, so a data directory that cannot be written is no reason to stop. */
function writeMarker(path: string): void {
  try {
    writeFileSync(path, "", { mode: 0o600 });
  } catch {
    // The storage status reports it.
  }
}

/** Four letters or digits, different for each session, and short enough for every line. */
function nonceOf(secret: Uint8Array, name: string): string {
  const digest = createHmac("sha256", secret).update(`nonce ${name}`).digest();
  return [...digest.subarray(0, 4)].map((byte) => "0123456789abcdefghjkmnpqrstvwxyz"[byte % 32]).join("");
}
