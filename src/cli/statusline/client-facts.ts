/** The usable facts that the client reports. */
export type ClientFacts = {
  /** The client's own name for its session. */
  readonly session: string | null;
  readonly model: string | null;
  readonly usd: number | null;
  readonly window: { readonly used: number; readonly size: number } | null;
};

type ClientFields = Readonly<Record<string, unknown>>;

/** Every field is checked: a client may add, rename or leave out any of them. */
export function readClientFacts(text: string): ClientFacts {
  const all = fieldsOf(parseInput(text));
  const model = fieldsOf(all["model"]);
  const window = fieldsOf(all["context_window"]);
  const usage = fieldsOf(window["current_usage"]);
  const parts = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
  const used = parts.reduce((sum, name) => sum + (numberOf(usage[name]) ?? 0), 0);
  const size = numberOf(window["context_window_size"]);
  return {
    session: textOf(all["session_id"]),
    model: textOf(model["display_name"]) ?? textOf(model["id"]),
    usd: numberOf(fieldsOf(all["cost"])["total_cost_usd"]),
    window: size === null || size <= 0 || used === 0 ? null : { used, size },
  };
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function fieldsOf(value: unknown): ClientFields {
  return typeof value === "object" && value !== null ? (value as ClientFields) : {}; // every field is checked
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}
