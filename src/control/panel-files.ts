import { readdirSync, readFileSync } from "node:fs";
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { isPagePath } from "./match-route.ts";
import { securityHeaders } from "./respond.ts";

/** A file of the panel. It is the same for all callers: data comes through the API alone. */
export type PanelFile = {
  readonly type: string;
  readonly bytes: Buffer;
  readonly zipped: () => Buffer | null;
  readonly headers: OutgoingHttpHeaders;
};

export type Panel = { readonly fileAt: (path: string) => PanelFile | null };

/** Allows only our own scripts, styles and API. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
};
const compressedEndings: readonly string[] = [".png", ".ico", ".woff2"];

/** Reads all files at the start, so that no request can name a file outside the panel. */
export function readPanel(folder: string): Panel | null {
  const page = fileIn(folder, "index.html");
  if (page === null) return null;
  const assets = new Map<string, PanelFile>();
  for (const name of namesIn(join(folder, "assets"))) {
    const file = fileIn(join(folder, "assets"), name);
    if (file !== null) assets.set(`/assets/${name}`, file);
  }
  return { fileAt: (path) => (isPagePath(path) ? page : (assets.get(path) ?? null)) };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function fileIn(folder: string, name: string): PanelFile | null {
  const ending = extname(name);
  const type = types[ending];
  const bytes = type === undefined ? null : bytesAt(join(folder, name));
  if (type === undefined || bytes === null) return null;
  let packed: Buffer | null = null;
  const zipped = (): Buffer | null => {
    if (compressedEndings.includes(ending)) return null;
    packed ??= gzipSync(bytes);
    return packed;
  };
  return { type, bytes, zipped, headers: headersOf(name) };
}

function bytesAt(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

/** A file with a hash in its name never changes, so browsers may cache it. */
function headersOf(name: string): OutgoingHttpHeaders {
  const isHashed = /-[\w-]{8,}\.\w+$/.test(name);
  return {
    ...securityHeaders,
    ...(isHashed ? { "cache-control": "public, max-age=31536000, immutable" } : {}),
    "content-security-policy": pagePolicy,
    "cross-origin-opener-policy": "same-origin",
    vary: "accept-encoding",
  };
}

export function sendFile(request: IncomingMessage, response: ServerResponse, file: PanelFile): void {
  const packed = takesGzip(request) ? file.zipped() : null;
  const body = packed ?? file.bytes;
  response.writeHead(200, {
    ...file.headers,
    "content-type": file.type,
    "content-length": body.length,
    ...(packed === null ? {} : { "content-encoding": "gzip" }),
    ...(request.complete ? {} : { connection: "close" }),
  });
  response.end(body);
}

function takesGzip({ headers }: IncomingMessage): boolean {
  const named = String(headers["accept-encoding"] ?? "").split(",");
  return named.some((each) => /^\s*gzip\s*(;\s*q=(1(\.0*)?|0?\.\d*[1-9]\d*))?\s*$/i.test(each));
}
