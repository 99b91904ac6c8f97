import { StringDecoder } from "node:string_decoder";

/** One server-sent event. */
export type ServerEvent = { readonly name: string; readonly data: string };

/** Yields events as they arrive. A broken connection ends them without an error. */
export async function* serverEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const blocks = (rest + decoder.write(Buffer.from(chunk))).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventIn(block);
        if (event !== null) yield event;
      }
    }
  } catch {
    return;
  }
}

/** Null for a comment, which only keeps the connection alive. */
function eventIn(block: string): ServerEvent | null {
  const fields = block.split("\n").map((line) => /^(event|data): ?(.*)$/s.exec(line));
  const of = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2] ?? ""] : []));
  const data = of("data");
  return data.length === 0 ? null : { name: of("event").at(-1) ?? "message", data: data.join("\n") };
}
