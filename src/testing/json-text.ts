import type { Json } from "../base/index.ts";

export type JsonObject = { readonly [key: string]: Json };

/**
 * Numbers whose text is not the shortest one (1.0, 1e3, integers beyond 2^53), by the value that holds them.
 * When renderings are compared, a number that is written differently has changed.
 */
export type NumberTexts = ReadonlyMap<object, ReadonlyMap<string, string>>;

export type JsonParseResult =
  | { readonly type: "value"; readonly value: Json; readonly numbers: NumberTexts }
  | { readonly type: "problem"; readonly message: string };

const depthMax = 400;

/** Stricter than the built-in parser: no invalid UTF-8, repeated keys, half characters or endless numbers. */
export function parseJsonText(bytes: Uint8Array): JsonParseResult {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { type: "problem", message: "the body is not valid UTF-8" };
  }
  const reader = new JsonReader(text);
  try {
    return { type: "value", value: reader.readAll(), numbers: reader.numbers };
  } catch (error) {
    if (error instanceof JsonFault) return { type: "problem", message: error.message };
    throw error;
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Array.isArray does not narrow a readonly array. */
export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** It never leaves this file: parseJsonText turns it into a value. */
class JsonFault extends Error {}

const numberPattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const halfCharacter = /\p{Surrogate}/u;
const plainCharsMax = 64;
const firstPrintable = 0x20;
const backslash = 0x5c;
const literals: readonly (readonly [string, Json])[] = [
  ["true", true],
  ["false", false],
  ["null", null],
];

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

class JsonReader {
  readonly numbers = new Map<object, Map<string, string>>();
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #oddNumber: string | null = null;

  constructor(text: string) {
    this.#text = text;
  }

  readAll(): Json {
    const value = this.#value();
    if (this.#next() !== "") this.#fail("the body goes on after its value");
    return value;
  }

  #value(): Json {
    switch (this.#next()) {
      case "{":
        return this.#object();
      case "[":
        return this.#list();
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #open(): void {
    this.#at += 1;
    this.#depth += 1;
    if (this.#depth > depthMax) this.#fail(`the body is nested more than ${depthMax} levels deep`);
  }

  #object(): JsonObject {
    const record: Record<string, Json> = {};
    this.#open();
    if (this.#next() === "}") return this.#close(record);
    for (;;) {
      if (this.#next() !== '"') this.#fail("expected a key");
      const key = this.#string();
      if (Object.hasOwn(record, key)) this.#fail(`the key ${JSON.stringify(key)} occurs twice in one object`);
      this.#expect(":");
      this.#keep(record, key, this.#value());
      if (this.#next() === "}") return this.#close(record);
      this.#expect(",");
    }
  }

  #list(): readonly Json[] {
    const items: Json[] = [];
    this.#open();
    if (this.#next() === "]") return this.#close(items);
    for (;;) {
      this.#keep(items, String(items.length), this.#value());
      if (this.#next() === "]") return this.#close(items);
      this.#expect(",");
    }
  }

  #close<T>(value: T): T {
    this.#at += 1;
    this.#depth -= 1;
    return value;
  }

  #keep(parent: Record<string, Json> | Json[], key: string, value: Json): void {
    // Assignment to this one name would set the prototype instead of a key.
    if (key === "__proto__") {
      Object.defineProperty(parent, key, { value, enumerable: true, writable: true, configurable: true });
    } else (parent as Record<string, Json>)[key] = value; // an array takes its index as a key too
    if (this.#oddNumber === null) return;
    const texts = this.numbers.get(parent) ?? new Map<string, string>();
    this.numbers.set(parent, texts.set(key, this.#oddNumber));
    this.#oddNumber = null;
  }

  #string(): string {
    const start = this.#at;
    let end = this.#text.indexOf('"', start + 1);
    while (end !== -1 && this.#isEscaped(end)) end = this.#text.indexOf('"', end + 1);
    if (end === -1) this.#fail("a string does not end");
    if (end - start <= plainCharsMax && this.#isPlain(start + 1, end)) {
      this.#at = end + 1;
      return this.#text.slice(start + 1, end);
    }
    const quoted = this.#text.slice(start, end + 1);
    const value = this.#unquote(quoted);
    // Text that was valid UTF-8 can only get half a character from an escape.
    if (quoted.includes("\\u") && halfCharacter.test(value)) this.#fail("a string holds half a character");
    this.#at = end + 1;
    return value;
  }

  /** Most strings are short and have no escapes: those need no second parser. */
  #isPlain(from: number, to: number): boolean {
    for (let at = from; at < to; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code < firstPrintable || code === backslash) return false;
    }
    return true;
  }

  #unquote(quoted: string): string {
    try {
      return JSON.parse(quoted) as string; // it starts and ends with a quote, so it is a string or an error
    } catch {
      return this.#fail("a string holds a control character or an unknown escape");
    }
  }

  #isEscaped(at: number): boolean {
    let slashes = 0;
    while (this.#text[at - 1 - slashes] === "\\") slashes += 1;
    return slashes % 2 === 1;
  }

  #scalar(): Json {
    for (const [word, value] of literals) {
      if (!this.#text.startsWith(word, this.#at)) continue;
      this.#at += word.length;
      return value;
    }
    numberPattern.lastIndex = this.#at;
    const text = numberPattern.exec(this.#text)?.[0];
    if (text === undefined) return this.#fail("expected a value");
    const value = Number(text);
    if (!Number.isFinite(value)) this.#fail("a number is too large");
    this.#at += text.length;
    if (String(value) !== text) this.#oddNumber = text;
    return value;
  }

  #expect(mark: string): void {
    if (this.#next() !== mark) this.#fail(`expected ${mark}`);
    this.#at += 1;
  }

  #next(): string {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text[this.#at] ?? "";
  }

  #fail(message: string): never {
    throw new JsonFault(`${message} (character ${this.#at})`);
  }
}
