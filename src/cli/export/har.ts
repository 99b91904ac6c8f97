import type { ExportedRequest, ExportText, SessionExport } from "./collect-session.ts";
import type { ExportInfo } from "./jsonl.ts";

/**
 * HAR, for tools that read recorded HTTP. Headers are not stored, so the file contains none, and no
 * credentials.
 */
export function sessionHar({ session, requests }: SessionExport, { version, isMasked }: ExportInfo): string {
  const log = {
    version: "1.2",
    creator: { name: "Aperture", version },
    comment: `${session.name}${isMasked ? " (texts that look like secrets are masked)" : ""}`,
    entries: requests.map(harEntry),
  };
  return JSON.stringify({ log }, null, 1);
}

function harEntry({ row, texts }: ExportedRequest) {
  const totalMs = row.totalMs ?? 0;
  const waitMs = row.firstByteMs ?? totalMs;
  const sent = texts.upstream ?? texts.client;
  const [method = "POST", path = "/"] = row.target.split(" ");
  return {
    startedDateTime: new Date(row.time ?? 0).toISOString(),
    time: totalMs,
    request: {
      method,
      // An export does not reveal the addresses of a company's upstreams.
      url: `https://upstream.invalid${path}`,
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: [],
      queryString: [],
      headersSize: -1,
      bodySize: row.bytesUp,
      postData: { mimeType: "application/json", text: sent?.text ?? "" },
    },
    response: {
      status: row.status ?? 0,
      statusText: "",
      httpVersion: "HTTP/1.1",
      cookies: [],
      headers: [],
      redirectURL: "",
      headersSize: -1,
      bodySize: row.bytesDown ?? -1,
      content: harContent(texts.response),
    },
    cache: {},
    timings: { send: 0, wait: waitMs, receive: Math.max(0, totalMs - waitMs) },
    comment: `request ${row.id}, ${row.role}, sent ${row.rendering}`,
  };
}

function harContent(text: ExportText | null) {
  if (text === null) return { size: 0, mimeType: "" };
  const mimeType = /^(?:event|data):/.test(text.text) ? "text/event-stream" : "application/json";
  const encoding = text.encoding === "base64" ? { encoding: "base64" } : {};
  return { size: text.text.length, mimeType, text: text.text, ...encoding };
}
