import { useEffect, useRef, useState } from "react";
import { bytesText } from "../base/format.ts";
import { ScrollText } from "../components/scroll-text.tsx";

export type BodyViewProps = {
  /** A path of the control API. */
  readonly path: string;
  readonly label: string;
};

const pieceBytes = 64 * 1024;

type BodyPart = {
  readonly text: string;
  readonly bytes: number;
  readonly isAll: boolean;
  readonly problem: string | null;
};
const emptyBody: BodyPart = { text: "", bytes: 0, isAll: false, problem: null };

/** A stored body, read in pieces on demand. */
export function BodyView({ path, label }: BodyViewProps) {
  const [shown, setShown] = useState(emptyBody);
  const [isPretty, setPretty] = useState(false);
  const reader = useRef<PieceReader | null>(null);
  useEffect(() => {
    const own = new PieceReader(path, setShown);
    reader.current = own;
    setShown(emptyBody);
    void own.more();
    return () => own.stop();
  }, [path]);
  const { text, bytes, isAll, problem } = shown;
  const formatted = isPretty && isAll ? formattedText(text) : null;
  if (problem !== null) return <p className="body-problem dim">{problem}</p>;
  if (bytes === 0 && !isAll) return <p className="loading">Loading {label}…</p>;
  return (
    <section className="body" aria-label={label}>
      <p className="body-bar">
        <span className="dim" role="status">
          {isAll ? bytesText(bytes) : `first ${bytesText(bytes)}`}
        </span>
        {isAll ? null : (
          <button type="button" className="button small" onClick={() => void reader.current?.more()}>
            Load more
          </button>
        )}
        {isAll && text.startsWith("{") && text.length <= prettyCharsMax ? (
          <button
            type="button"
            className="button small"
            aria-pressed={isPretty}
            onClick={() => setPretty((before) => !before)}
          >
            Formatted
          </button>
        ) : null}
      </p>
      <ScrollText label="Stored text" className="body-text">
        {formatted ?? text}
      </ScrollText>
    </section>
  );
}

/** Formatting a longer text would block the page. */
const prettyCharsMax = 1_000_000;

function formattedText(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

/** Reads a response piece by piece. */
class PieceReader {
  readonly #path: string;
  readonly #onRead: (shown: BodyPart) => void;
  readonly #stopper = new AbortController();
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #isReading = false;
  #shown = emptyBody;

  constructor(path: string, onRead: (shown: BodyPart) => void) {
    this.#path = path;
    this.#onRead = onRead;
  }

  stop(): void {
    this.#stopper.abort();
  }

  async more(): Promise<void> {
    if (this.#isReading || this.#shown.isAll) return;
    this.#isReading = true;
    try {
      this.#reader ??= await this.#open();
      await this.#read(this.#reader, this.#shown.bytes + pieceBytes);
    } catch (error) {
      this.#show({ ...this.#shown, problem: problemOf(error) });
    } finally {
      this.#isReading = false;
    }
  }

  async #open(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
    const response = await fetch(`/api/v1${this.#path}`, { signal: this.#stopper.signal });
    if (!response.ok || response.body === null) throw new Error("This body is not recorded, or not yet.");
    return response.body.getReader();
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>, upTo: number): Promise<void> {
    let { text, bytes } = this.#shown;
    while (bytes < upTo) {
      const { done, value } = await reader.read();
      if (done) {
        this.#show({ text: text + this.#decoder.decode(), bytes, isAll: true, problem: null });
        return;
      }
      text += this.#decoder.decode(value, { stream: true });
      bytes += value.length;
    }
    this.#show({ text, bytes, isAll: false, problem: null });
  }

  #show(shown: BodyPart): void {
    this.#shown = shown;
    if (!this.#stopper.signal.aborted) this.#onRead(shown);
  }
}

function problemOf(error: unknown): string {
  if (error instanceof TypeError) return "This body is not text; it is probably compressed. Save it instead.";
  return error instanceof Error ? error.message : String(error);
}
