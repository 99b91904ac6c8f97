import { readFileSync } from "node:fs";
import {
  type GatheredSession,
  readTranscript,
  SessionGatherer,
  type Transcript,
  type TranscriptProblem,
} from "../../transcripts/index.ts";
import { errorCode } from "../outcome.ts";
import type { TranscriptSession } from "./transcript-files.ts";

/** Below the maximal length of a string in Node. */
const bytesMax = 400 * 1024 * 1024;

/** Reads sessions one at a time, so that only one is in memory here. It collects the problems with files. */
export class SessionLoader {
  readonly problems: TranscriptProblem[] = [];
  readonly #gatherer = new SessionGatherer();

  /** Null if the session has no request, or if all its requests belong to an earlier session. */
  load({ files }: TranscriptSession): GatheredSession | null {
    const transcripts = files.flatMap(({ path, bytes }) => this.#read(path, bytes) ?? []);
    return this.#gatherer.gather(transcripts);
  }

  #read(path: string, bytes: number): Transcript | null {
    if (bytes > bytesMax) return this.#unread(path, "larger than 400 MB");
    try {
      const transcript = readTranscript({ name: path, text: readFileSync(path, "utf8") });
      this.problems.push(...(transcript?.problems ?? []));
      return transcript ?? this.#unread(path, "nothing in it could be read");
    } catch (error) {
      return this.#unread(path, `cannot be read: ${errorCode(error)}`);
    }
  }

  #unread(file: string, problem: string): null {
    this.problems.push({ file, problem, count: 1, line: null });
    return null;
  }
}
