import type { ExportedBlock, ExportText, SessionExport } from "./collect-session.ts";
import { maskLabel, maskSecretText, maskValue } from "./mask.ts";

/** Masks everything that looks like a secret. Binary content cannot be searched, so it is left out. */
export function maskSession(all: SessionExport): SessionExport {
  const frames = all.frames.map((frame) => maskValue(frame) as typeof frame); // the same shape
  const changed = frames.filter((frame, at) => JSON.stringify(frame) !== JSON.stringify(all.frames[at]));
  return {
    session: maskValue(all.session) as SessionExport["session"], // the same shape, with other texts
    state: maskValue(all.state) as SessionExport["state"], // the same
    frames,
    maskedFrames: new Set(changed.map(({ seq }) => seq)),
    blocks: all.blocks.map(maskBlock),
    others: all.others.map(({ stream, blocks }) => ({
      stream: maskValue(stream) as typeof stream, // the same
      blocks: blocks.map(maskBlock),
    })),
    requests: all.requests.map(({ row, bodies, texts }) => ({
      row: maskValue(row) as typeof row, // the same
      bodies,
      texts: {
        client: maskText(texts.client),
        upstream: maskText(texts.upstream),
        response: maskText(texts.response),
      },
    })),
  };
}

function maskBlock({ row, content, renditions }: ExportedBlock): ExportedBlock {
  return {
    row: maskValue(row) as typeof row, // the same shape
    content: maskText(content),
    renditions: renditions.map((rendition) => ({ ...rendition, content: maskText(rendition.content) })),
  };
}

function maskText(text: ExportText | null): ExportText | null {
  if (text === null) return null;
  if (text.encoding === "base64") return { text: maskLabel, encoding: "utf-8", masked: true };
  const plain = maskSecretText(text.text);
  return plain === text.text ? text : { ...text, text: plain, masked: true };
}
