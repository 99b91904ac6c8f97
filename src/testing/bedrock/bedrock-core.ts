import type { AnswerMessage } from "../answer-message.ts";
import { isList, isObject, type JsonObject, parseJsonText } from "../json-text.ts";
import type { RawRequest, ReadResult } from "../read-raw-request.ts";
import { invalid, type RequestProblem } from "../request-problem.ts";
import type { CoreAnswer, StrictCore } from "../strict-core.ts";
import { exceptionFrame, jsonFrame } from "./event-stream.ts";
import { readConverseBody } from "./read-converse.ts";
import { type AwsKeys, signatureProblem } from "./sigv4.ts";
import { converseFrames, converseMessage } from "./write-converse.ts";

type BedrockOperation = "invoke" | "invoke-with-response-stream" | "converse" | "converse-stream";

/**
 * Amazon Bedrock in front of a Messages API: it requires signatures, and reads and writes bodies in its own
 * forms. The core behind it checks the prompt.
 */
export function bedrockCore(core: StrictCore, keys: AwsKeys): StrictCore {
  // A read result does not know its operation, and the form of the answer depends on it.
  const operations = new WeakMap<ReadResult, BedrockOperation>();
  return {
    read: (raw) => {
      const inner = innerRequest(raw, keys);
      if ("problem" in inner) return { type: "problem", problem: inner.problem };
      const result = core.read(inner.raw);
      operations.set(result, inner.operation);
      return result;
    },
    answer: async (result, n) => {
      const answer = await core.answer(result, n);
      const operation = operations.get(result);
      if (answer.problem !== null) return refusal(answer, answer.problem);
      return operation === undefined ? answer : bedrockAnswer(answer, operation);
    },
    refuse: (problem, n) => refusal(core.refuse(problem, n), problem),
  };
}

type InnerRequest =
  | { readonly raw: RawRequest; readonly operation: BedrockOperation }
  | { readonly problem: RequestProblem };

function innerRequest(raw: RawRequest, keys: AwsKeys): InnerRequest {
  const route = /^\/model\/([^/?]+)\/(invoke|invoke-with-response-stream|converse|converse-stream)$/.exec(
    raw.target,
  );
  const [, id = "", operation] = route ?? [];
  if (operation === undefined || raw.method !== "POST") {
    return { problem: { status: 404, type: "UnknownOperationException", message: "" } };
  }
  const unsigned = signatureProblem(raw, keys, Date.now());
  if (unsigned !== null) {
    return { problem: { status: 403, type: "InvalidSignatureException", message: unsigned } };
  }
  const parsed = parseJsonText(raw.body);
  if (parsed.type === "problem" || !isObject(parsed.value)) {
    return { problem: invalid("body", parsed.type === "problem" ? parsed.message : "expected an object") };
  }
  const named = operation as BedrockOperation; // by the pattern above
  const model = decodeURIComponent(id);
  const isConverse = named.startsWith("converse");
  const body = isConverse ? readConverseBody(parsed.value, model) : invokedBody(parsed.value);
  if (isProblem(body)) return { problem: body };
  const whole = { ...body, model: modelOf(model, isConverse), stream: named === streamed };
  return { raw: messagesRequest(whole, keys), operation: named };
}

const streamed: BedrockOperation = "invoke-with-response-stream";
const versions = ["bedrock-2023-05-31", "2026-10-21"];

/** The path, not the body, names the model and tells if the answer is streamed. */
function invokedBody(body: JsonObject): JsonObject | RequestProblem {
  const { anthropic_version: version, ...rest } = body;
  if (typeof version !== "string" || !versions.includes(version)) {
    return invalid("anthropic_version", "this field is required");
  }
  const misplaced = ["model", "stream"].find((key) => Object.hasOwn(rest, key));
  return misplaced === undefined ? rest : invalid("body", `extraneous key [${misplaced}] is not permitted`);
}

function isProblem(value: JsonObject | RequestProblem): value is RequestProblem {
  return typeof value["status"] === "number";
}

/**
 * `eu.anthropic.claude-opus-5-5-v1:0` is `claude-opus-5-5`. Models of other vendors use Converse, and the
 * rules of Claude do not apply to them.
 */
function modelOf(id: string, isConverse: boolean): string {
  if (isConverse && otherModels.test(id)) return "strict-demo-1";
  return id.replace(/^(?:[a-z-]+\.)?anthropic\./, "").replace(/-v\d+(?::\d+)?$/, "");
}

const otherModels = /^(?:[a-z-]+\.)?(?:amazon|deepseek|meta|mistral|openai|qwen)\./;

function messagesRequest(whole: JsonObject, { accessKeyId }: AwsKeys): RawRequest {
  const { anthropic_beta: betas, ...body } = whole;
  const beta = isList(betas) ? ["anthropic-beta", betas.join(",")] : [];
  return {
    method: "POST",
    target: "/v1/messages",
    rawHeaders: ["x-api-key", accessKeyId, "anthropic-version", "2023-06-01", ...beta],
    body: Buffer.from(JSON.stringify(body)),
  };
}

function bedrockAnswer(answer: CoreAnswer, operation: BedrockOperation): CoreAnswer {
  switch (operation) {
    case "invoke":
      return answer;
    case "invoke-with-response-stream":
      return inFrames(answer, answer.chunks.flatMap(chunkFrame));
    case "converse":
      return { ...answer, chunks: [Buffer.from(JSON.stringify(converseMessage(messageIn(answer))))] };
    case "converse-stream":
      return inFrames(answer, converseFrames(messageIn(answer)));
  }
}

function messageIn({ chunks }: CoreAnswer): AnswerMessage {
  return JSON.parse(Buffer.concat(chunks).toString()) as AnswerMessage; // what the core writes
}

function inFrames(answer: CoreAnswer, chunks: readonly Buffer[]): CoreAnswer {
  const headers = answer.headers.filter(([name]) => name !== "content-type");
  const type = ["content-type", "application/vnd.amazon.eventstream"] as const;
  return { ...answer, headers: [...headers, type], chunks, isStreamed: true, errorEvent: exceptionFrame };
}

/** The data of a server-sent event in a frame; pings are left out. */
function chunkFrame(event: Buffer): readonly Buffer[] {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1] ?? "";
  if (data === '{"type":"ping"}') return [];
  return [jsonFrame("chunk", { bytes: Buffer.from(data).toString("base64"), p: "abcd" })];
}

const exceptionNames: Readonly<Record<string, string>> = {
  invalid_request_error: "ValidationException",
  authentication_error: "UnrecognizedClientException",
  permission_error: "AccessDeniedException",
  not_found_error: "ResourceNotFoundException",
  rate_limit_error: "ThrottlingException",
  api_error: "InternalServerException",
  overloaded_error: "ServiceUnavailableException",
};

function refusal(answer: CoreAnswer, problem: RequestProblem): CoreAnswer {
  const name = exceptionNames[problem.type] ?? problem.type;
  const headers = [...answer.headers, ["x-amzn-errortype", name] as const];
  return { ...answer, headers, chunks: [Buffer.from(JSON.stringify({ message: problem.message }))] };
}
