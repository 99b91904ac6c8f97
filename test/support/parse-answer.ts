import type { Answer } from "./app.ts";

type Fields = { readonly [name: string]: unknown };
type Content = { readonly type: string; readonly [field: string]: unknown };

/** An answer as a client puts it together, whether it came as events or in one piece. */
export type ParsedAnswer = {
  readonly content: readonly Content[];
  readonly stop: unknown;
  readonly usage: Fields;
  /** The types of its events, pings left out; none where it came in one piece. */
  readonly events: readonly string[];
  readonly pings: number;
  /** What an event said that went wrong. */
  readonly error: Fields | null;
};

/** Reads it as strictly as the strictest client: whatever is out of order is an error. */
export function parseAnswer({ headers, body }: Answer): ParsedAnswer {
  const text = body.toString("utf8");
  if (headers["content-type"]?.includes("event-stream") === true) return parseEvents(text);
  const message = JSON.parse(text) as Fields;
  const { content = [], usage = {}, stop_reason: stop = null, error = null } = message;
  return { content, usage, stop, error, events: [], pings: 0 } as ParsedAnswer;
}

function parseEvents(text: string): ParsedAnswer {
  const all = text.split("\n\n").filter((one) => one !== "");
  const said = all.map((one) => JSON.parse(one.slice(one.indexOf("data:") + 5)) as Fields);
  const events = said.filter(({ type }) => type !== "ping");
  const blocks: Building[] = [];
  let [usage, stop, error]: [Fields, unknown, Fields | null] = [{}, null, null];
  for (const event of events) {
    switch (event["type"]) {
      case "message_start":
        usage = fieldsIn(fieldsIn(event, "message"), "usage");
        break;
      case "message_delta":
        usage = { ...usage, ...fieldsIn(event, "usage") };
        stop = fieldsIn(event, "delta")["stop_reason"];
        break;
      case "error":
        error = fieldsIn(event, "error");
        break;
      case "message_stop":
        break;
      default:
        build(blocks, event);
    }
  }
  if (error === null) orderly(events.map(({ type }) => String(type)));
  return {
    content: blocks.map(finished),
    usage,
    stop,
    error,
    events: events.map(({ type }) => String(type)),
    pings: said.length - events.length,
  };
}

type Building = { readonly start: Fields; readonly deltas: Fields[]; isOver: boolean };

function build(blocks: Building[], event: Fields): void {
  const last = blocks.at(-1);
  if (event["type"] === "content_block_start") {
    if (event["index"] !== blocks.length || last?.isOver === false)
      throw new Error(`block ${event["index"]} begins out of order`);
    blocks.push({ start: fieldsIn(event, "content_block"), deltas: [], isOver: false });
    return;
  }
  if (last === undefined || last.isOver || event["index"] !== blocks.length - 1)
    throw new Error(`${event["type"]} of block ${event["index"]} is out of order`);
  if (event["type"] === "content_block_stop") last.isOver = true;
  else last.deltas.push(fieldsIn(event, "delta"));
}

function finished({ start, deltas }: Building): Content {
  const joined = (name: string): string => deltas.map((delta) => delta[name] ?? "").join("");
  const block = start as Content;
  switch (block.type) {
    case "text":
      return { ...block, text: `${block["text"]}${joined("text")}` };
    case "thinking":
      return { ...block, thinking: joined("thinking"), signature: joined("signature") };
    case "tool_use":
      return { ...block, input: JSON.parse(joined("partial_json") || "{}") };
    default:
      return block;
  }
}

function orderly(types: readonly string[]): void {
  const ends = [types[0], ...types.slice(-2)].join(" ");
  if (ends !== "message_start message_delta message_stop") throw new Error(`it is no whole answer: ${ends}`);
  for (const once of ["message_start", "message_delta", "message_stop"])
    if (types.filter((type) => type === once).length !== 1) throw new Error(`more than one ${once}`);
}

function fieldsIn(fields: Fields, name: string): Fields {
  return (fields[name] ?? {}) as Fields;
}
