/** The parts of an upstream request that a curl command repeats. */
export type CurlInput = {
  /** `POST /v1/messages?beta=true`. */
  readonly target: string;
  /** The base URL of the upstream. */
  readonly upstream: string;
  readonly body: string;
  /** The file name of the body, if it is too long for a command line. */
  readonly file: string;
};

const inlineCharsMax = 16_000;

/** A curl command with the API key as a shell variable: keys are never recorded. */
export function curlText({ target, upstream, body, file }: CurlInput): string {
  const [method = "POST", path = "/"] = target.split(" ");
  const isInline = body.length <= inlineCharsMax;
  const lines = [
    `curl -X ${method} ${quoted(`${upstream.replace(/\/$/, "")}${path}`)}`,
    `-H ${quoted("content-type: application/json")}`,
    ...keyHeaders(path),
    `--data-binary ${quoted(isInline ? body : `@${file}`)}`,
  ];
  return lines.join(" \\\n  ");
}

function keyHeaders(path: string): readonly string[] {
  if (path.startsWith("/v1/messages")) {
    return [`-H ${quoted("anthropic-version: 2023-06-01")}`, '-H "x-api-key: $ANTHROPIC_API_KEY"'];
  }
  if (path.startsWith("/v1beta/")) return ['-H "x-goog-api-key: $GEMINI_API_KEY"'];
  return ['-H "authorization: Bearer $OPENAI_API_KEY"'];
}

/** A shell takes everything inside single quotes literally, except the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
