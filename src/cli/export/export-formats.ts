import type { ExportFormat } from "../../control/index.ts";
import type { SessionExport } from "./collect-session.ts";
import { sessionHar } from "./har.ts";
import { type ExportInfo, jsonLines } from "./jsonl.ts";
import { sessionHtml } from "./session-html.ts";
import { sessionMarkdown } from "./session-markdown.ts";

type FormatWriter = (session: SessionExport, info: ExportInfo) => string;

const formatWriters: Readonly<Record<ExportFormat, FormatWriter>> = {
  jsonl: (session, info) => [...jsonLines(session, info)].join("\n"),
  md: sessionMarkdown,
  html: sessionHtml,
  har: sessionHar,
};

export function formatWriter(format: string): FormatWriter | undefined {
  const isFormat = Object.hasOwn(formatWriters, format);
  return isFormat ? formatWriters[format as ExportFormat] : undefined; // an own key is a format
}
