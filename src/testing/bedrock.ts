import type { AnswerMessage } from "./answer.ts";
import { converseFrames, converseMessage } from "./converse-answer.ts";
import { messagesOfConverse } from "./converse-read.ts";
import type { CoreAnswer, StrictCore } from "./core.ts";
import { exceptionFrame, jsonFrame } from "./event-stream.ts";
import { isList, isObject, type JsonObject, parseJsonText } from "./json-text.ts";
import { invalid, type Problem } from "./problem.ts";
import type { RawRequest, Reading } from "./read.ts";
import { type AwsKeys, signatureProblem } from "./sigv4.ts";

type Operation = "invoke" | "invoke-with-response-stream" | "converse" | "converse-stream";

/**
 * Amazon Bedrock in front of a Messages interface: it wants signatures, takes bodies in its own forms and
 * answers in them. What a prompt may hold is for the interface behind it to say.
 */
export function bedrockCore(core: StrictCore, keys: AwsKeys): StrictCore {
  // A reading says nothing of how it came; the answer must.
  const operations = new WeakMap<Reading, Operation>();
  return {
    read: (raw) => {
      const inner = innerRequest(raw, keys);
      if ("problem" in inner) return { type: "problem", problem: inner.problem };
      const reading = core.read(inner.raw);
      operations.set(reading, inner.operation);
      return reading;
    },
    answer: async (reading, n) => {
      const answer = await core.answer(reading, n);
      const operation = operations.get(reading);
      if (answer.problem !== null) return refusal(answer, answer.problem);
      return operation === undefined ? answer : inBedrock(answer, operation);
    },
    refuse: (problem, n) => refusal(core.refuse(problem, n), problem),
  };
}

type Inner = { readonly raw: RawRequest; readonly operation: Operation } | { readonly problem: Problem };

function innerRequest(raw: RawRequest, keys: AwsKeys): Inner {
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
  const named = operation as Operation; // by the pattern above
  const model = decodeURIComponent(id);
  const isConverse = named.startsWith("converse");
  const body = isConverse ? messagesOfConverse(parsed.value, model) : invokedBody(parsed.value);
  if (isProblem(body)) return { problem: body };
  const whole = { ...body, model: modelOf(model, isConverse), stream: named === streamed };
  return { raw: asMessages(whole, keys), operation: named };
}

const streamed: Operation = "invoke-with-response-stream";
const versions = ["bedrock-2023-05-31", "2026-10-21"];

/** The model is in the address, and so is whether the answer comes in pieces. */
function invokedBody(body: JsonObject): JsonObject | Problem {
  const { anthropic_version: version, ...rest } = body;
  if (typeof version !== "string" || !versions.includes(version)) {
    return invalid("anthropic_version", "this field is required");
  }
  const misplaced = ["model", "stream"].find((key) => Object.hasOwn(rest, key));
  return misplaced === undefined ? rest : invalid("body", `extraneous key [${misplaced}] is not permitted`);
}

function isProblem(value: JsonObject | Problem): value is Problem {
  return typeof value["status"] === "number";
}

/**
 * `eu.anthropic.claude-opus-5-5-v1:0` is `claude-opus-5-5`. Models of others speak Converse, and no rule of
 * Claude's is theirs.
 */
function modelOf(id: string, isConverse: boolean): string {
  if (isConverse && otherModels.test(id)) return "strict-demo-1";
  return id.replace(/^(?:[a-z-]+\.)?anthropic\./, "").replace(/-v\d+(?::\d+)?$/, "");
}

const otherModels = /^(?:[a-z-]+\.)?(?:amazon|deepseek|meta|mistral|openai|qwen)\./;

function asMessages(whole: JsonObject, { accessKeyId }: AwsKeys): RawRequest {
  const { anthropic_beta: betas, ...body } = whole;
  const beta = isList(betas) ? ["anthropic-beta", betas.join(",")] : [];
  return {
    method: "POST",
    target: "/v1/messages",
    rawHeaders: ["x-api-key", accessKeyId, "anthropic-version", "2023-06-01", ...beta],
    body: Buffer.from(JSON.stringify(body)),
  };
}

function inBedrock(answer: CoreAnswer, operation: Operation): CoreAnswer {
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
  return { ...answer, headers: [...headers, type], chunks, streams: true, errorEvent: exceptionFrame };
}

/** The data of a server-sent event in a frame; pings stay behind. */
function chunkFrame(event: Buffer): readonly Buffer[] {
  const data = /^data: (.*)$/m.exec(event.toString())?.[1] ?? "";
  if (data === '{"type":"ping"}') return [];
  return [jsonFrame("chunk", { bytes: Buffer.from(data).toString("base64"), p: "abcd" })];
}

const names: Readonly<Record<string, string>> = {
  invalid_request_error: "ValidationException",
  authentication_error: "UnrecognizedClientException",
  permission_error: "AccessDeniedException",
  not_found_error: "ResourceNotFoundException",
  rate_limit_error: "ThrottlingException",
  api_error: "InternalServerException",
  overloaded_error: "ServiceUnavailableException",
};

function refusal(answer: CoreAnswer, problem: Problem): CoreAnswer {
  const name = names[problem.type] ?? problem.type;
  const headers = [...answer.headers, ["x-amzn-errortype", name] as const];
  return { ...answer, headers, chunks: [Buffer.from(JSON.stringify({ message: problem.message }))] };
}
