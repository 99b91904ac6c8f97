import type { Collected, ExportedBlock, Text } from "./collected.ts";
import { masked, maskedValue, maskText } from "./mask.ts";

/** Without what looks like a secret. What is no text cannot be looked through, and is left out. */
export function withoutSecrets(all: Collected): Collected {
  const frames = all.frames.map((frame) => maskedValue(frame) as typeof frame); // the same shape
  const changed = frames.filter((frame, at) => JSON.stringify(frame) !== JSON.stringify(all.frames[at]));
  return {
    session: maskedValue(all.session) as Collected["session"], // the same shape, with other texts
    state: maskedValue(all.state) as Collected["state"], // the same
    frames,
    maskedFrames: new Set(changed.map(({ seq }) => seq)),
    blocks: all.blocks.map(maskedBlock),
    others: all.others.map(({ stream, blocks }) => ({
      stream: maskedValue(stream) as typeof stream, // the same
      blocks: blocks.map(maskedBlock),
    })),
    requests: all.requests.map(({ row, bodies, texts }) => ({
      row: maskedValue(row) as typeof row, // the same
      bodies,
      texts: {
        client: maskedText(texts.client),
        upstream: maskedText(texts.upstream),
        response: maskedText(texts.response),
      },
    })),
  };
}

function maskedBlock({ row, content, renditions }: ExportedBlock): ExportedBlock {
  return {
    row: maskedValue(row) as typeof row, // the same shape
    content: maskedText(content),
    renditions: renditions.map((made) => ({ ...made, content: maskedText(made.content) })),
  };
}

function maskedText(text: Text | null): Text | null {
  if (text === null) return null;
  if (text.encoding === "base64") return { text: maskText, encoding: "utf-8", masked: true };
  const plain = masked(text.text);
  return plain === text.text ? text : { ...text, text: plain, masked: true };
}
