// Names of wire formats, and where they may stand, as data. Each place carries its reason.
import { isCode } from "./files.ts";
import { type FileMap, lineAt } from "./imports.ts";
import { mask } from "./mask.ts";

export const wireRule = "only src/protocols knows a wire format; ask its port for a part, a trait or a field";

type WirePlace = { readonly path: string; readonly why: string };

/** A path that ends with a slash is a folder. */
export const wirePlaces: readonly WirePlace[] = [
  { path: "src/protocols/", why: "the codecs" },
  {
    path: "src/testing/",
    why: "strict upstreams must not share our parsers, or they would share our mistakes",
  },
  { path: "src/transcripts/", why: "clients write their sessions down in the words of an API" },
  { path: "src/runtime/providers/", why: "each adapter speaks the API of one provider" },
  {
    path: "src/cli/statusline/client-facts.ts",
    why: "the JSON that Claude Code gives its status line: a client's format, and loaded on every line",
  },
  { path: "src/runtime/", why: "not done yet: agents and tools hold blocks of the Messages API" },
];

/** Words that are nothing but names of a wire format. */
const names = [
  // Messages API
  String.raw`(?:\w+_)?tool_use(?:_id)?`,
  String.raw`(?:\w+_)?tool_result`,
  "tool_reference",
  "tool_choice",
  "redacted_thinking",
  "cache_control",
  "context_management",
  "input_schema",
  "defer_loading",
  "stop_reason",
  "stop_sequence",
  "end_turn",
  "pause_turn",
  "max_tokens",
  "budget_tokens",
  "media_type",
  "is_error",
  String.raw`(?:cache_\w+_)?input_tokens`,
  "output_tokens",
  "message_(?:start|delta|stop)",
  String.raw`content_block_\w+`,
  "(?:text|thinking|signature|input_json|citations)_delta",
  // Chat Completions and Responses
  "tool_calls",
  "tool_call_id",
  "finish_reason",
  "prompt_tokens",
  "completion_tokens",
  "max_completion_tokens",
  "max_output_tokens",
  "function_call",
  "function_call_output",
  "encrypted_content",
  "input_text",
  "output_text",
  "output_item",
  "previous_response_id",
  // Gemini
  "functionCall",
  "functionResponse",
  "functionDeclarations",
  "thoughtSignature",
  "systemInstruction",
  "usageMetadata",
  "inlineData",
  // Converse
  "cachePoint",
  "toolUseId",
  "toolSpec",
  "toolConfig",
  "reasoningContent",
];

/** Words that are names of a wire format only as a value or a key. */
const quoted = ["thinking", "toolUse", "toolResult", "ephemeral"];

const patterns: readonly RegExp[] = [
  new RegExp(`(?<![\\w-])(?:${names.join("|")})(?![\\w-])`, "g"),
  new RegExp(`(?<=["'\`])(?:${quoted.join("|")})(?=["'\`])`, "g"),
];

export type WireLiteral = { readonly path: string; readonly line: number; readonly word: string };

/** The names of wire formats in the code of the product, strings included and comments not. */
export function wireLiterals(files: FileMap): readonly WireLiteral[] {
  const product = [...files].filter(([path]) => isProduct(path));
  return product.flatMap(([path, source]) => {
    const text = withoutComments(source);
    const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
    return found.map((match) => ({ path, line: lineAt(text, match.index), word: match[0] }));
  });
}

/** The place that allows a file to know a wire format, the narrowest first. Null if none does. */
export function wirePlaceOf(file: string): WirePlace | null {
  const around = wirePlaces.filter(({ path }) =>
    path.endsWith("/") ? file.startsWith(path) : file === path,
  );
  return around.toSorted((a, b) => b.path.length - a.path.length)[0] ?? null;
}

function isProduct(path: string): boolean {
  return isCode(path) && /^(?:src|panel\/src)\//.test(path) && !/\.test\.tsx?$/.test(path);
}

function withoutComments(source: string): string {
  const { comments } = mask(source);
  return [...source].map((character, at) => (isBlank(comments[at]) ? character : " ")).join("");
}

function isBlank(character: string | undefined): boolean {
  return character === undefined || character.trim() === "";
}
