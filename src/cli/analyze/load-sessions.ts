import { readFileSync } from "node:fs";
import {
  type GatheredSession,
  Gatherer,
  readTranscript,
  type Transcript,
  type TranscriptProblem,
} from "../../transcripts/index.ts";
import { codeOf, type FoundSession } from "./find-files.ts";

/** Strings of a process end somewhere. */
const bytesMax = 400 * 1024 * 1024;

/** Reads sessions one after the other, so that only one is in memory here. What cannot be read is told. */
export class SessionLoader {
  readonly problems: TranscriptProblem[] = [];
  readonly #gatherer = new Gatherer();

  /** Null: there is no request in it, or all of its requests are those of an earlier session. */
  load({ files }: FoundSession): GatheredSession | null {
    const transcripts = files.flatMap(({ path, bytes }) => this.#read(path, bytes) ?? []);
    return this.#gatherer.gather(transcripts);
  }

  #read(path: string, bytes: number): Transcript | null {
    if (bytes > bytesMax) return this.#unread(path, "it is larger than 400 MB");
    try {
      const transcript = readTranscript({ name: path, text: readFileSync(path, "utf8") });
      this.problems.push(...(transcript?.problems ?? []));
      return transcript ?? this.#unread(path, "nothing in it can be read");
    } catch (error) {
      return this.#unread(path, `it cannot be read: ${codeOf(error)}`);
    }
  }

  #unread(file: string, problem: string): null {
    this.problems.push({ file, problem, count: 1, line: null });
    return null;
  }
}
