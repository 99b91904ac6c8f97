/** One HTTP/1.1 message cut out of the bytes of a connection. */
export type WirePart = {
  readonly startLine: string;
  /** Names and values as they were written, in their order. */
  readonly headers: readonly (readonly [string, string])[];
  readonly framing: "none" | "length" | "chunked" | "close";
  /** The body without its framing, so that the same body in other chunks compares equal. */
  readonly body: Buffer;
  /** The start of the message in the bytes of the connection. */
  readonly offset: number;
  /** False if the connection ended in the middle of it. */
  readonly complete: boolean;
};

type CutBody = { readonly body: Buffer; readonly end: number; readonly complete: boolean };
type Head = Pick<WirePart, "startLine" | "headers"> & { readonly end: number };

/** This parser is independent on purpose: the proxy under test and the upstream use Node's parser. */
export function requestsIn(bytes: Buffer): readonly WirePart[] {
  const parts: WirePart[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const head = headAt(bytes, offset);
    if (head === null) break;
    const framing = framingOf(head);
    const part = partOf({ bytes, head, framing: framing === "close" ? "none" : framing, offset });
    parts.push(part.part);
    offset = part.end;
  }
  return parts;
}

/** Expects the methods of the requests on the same connection: an answer to HEAD has no body. */
export function responsesIn(bytes: Buffer, methods: readonly string[]): readonly WirePart[] {
  const parts: WirePart[] = [];
  for (let offset = 0; offset < bytes.length; ) {
    const head = headAt(bytes, offset);
    if (head === null) break;
    const status = statusOf(head.startLine);
    const hasNoBody = status < 200 || status === 204 || status === 304 || methods[parts.length] === "HEAD";
    const part = partOf({ bytes, head, framing: hasNoBody ? "none" : framingOf(head), offset });
    if (status >= 200) parts.push(part.part);
    offset = part.end;
  }
  return parts;
}

export function statusOf(startLine: string): number {
  return Number(startLine.split(" ")[1]);
}

export function headerOf(part: Pick<WirePart, "headers">, name: string): string | null {
  return part.headers.find(([each]) => each.toLowerCase() === name)?.[1] ?? null;
}

function headAt(bytes: Buffer, offset: number): Head | null {
  const end = bytes.indexOf("\r\n\r\n", offset, "latin1");
  if (end < 0) return null;
  const [startLine = "", ...lines] = bytes.toString("latin1", offset, end).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { startLine, headers, end: end + 4 };
}

function framingOf(head: Head): WirePart["framing"] {
  if (headerOf(head, "transfer-encoding")?.toLowerCase() === "chunked") return "chunked";
  return headerOf(head, "content-length") === null ? "close" : "length";
}

type PartInput = {
  readonly bytes: Buffer;
  readonly head: Head;
  readonly framing: WirePart["framing"];
  readonly offset: number;
};

function partOf({ bytes, head, framing, offset }: PartInput): {
  readonly part: WirePart;
  readonly end: number;
} {
  const { body, end, complete } = cutBody(bytes, head, framing);
  const { startLine, headers } = head;
  return { part: { startLine, headers, framing, body, offset, complete }, end };
}

function cutBody(bytes: Buffer, head: Head, framing: WirePart["framing"]): CutBody {
  switch (framing) {
    case "none":
      return { body: Buffer.alloc(0), end: head.end, complete: true };
    case "length": {
      const end = head.end + Number(headerOf(head, "content-length"));
      return { body: bytes.subarray(head.end, end), end, complete: end <= bytes.length };
    }
    case "chunked":
      return dechunk(bytes, head.end);
    case "close":
      return { body: bytes.subarray(head.end), end: bytes.length, complete: true };
  }
}

function dechunk(bytes: Buffer, from: number): CutBody {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at, "latin1");
    const size = lineEnd < 0 ? Number.NaN : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    if (Number.isNaN(size) || start + size + 2 > bytes.length) {
      return { body: Buffer.concat(chunks), end: bytes.length, complete: false };
    }
    if (size === 0) return { body: Buffer.concat(chunks), end: start + 2, complete: true };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}
