/** A request that went upstream, as far as somebody needs to know it to send it again. */
export type CurlAsked = {
  /** `POST /v1/messages?beta=true`. */
  readonly target: string;
  /** Where the upstream is: origin, and a path where it has one. */
  readonly upstream: string;
  readonly body: string;
  /** What the body is called where it is too long for a command line. */
  readonly file: string;
};

const inlineCharsMax = 16_000;

/** The key is a variable of the shell: it was never recorded, and nobody should have to paste it. */
export function curlText({ target, upstream, body, file }: CurlAsked): string {
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

/** Inside single quotes a shell takes everything as it is, but for the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
