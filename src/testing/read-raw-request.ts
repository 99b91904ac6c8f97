import { knownBetas } from "./betas.ts";
import { isObject, type JsonObject, type NumberTexts, parseJsonText } from "./json-text.ts";
import { type ModelRules, modelRules } from "./model-rules.ts";
import { contentBlocks, type Endpoint, type ParsedMessage, type ParsedRequest } from "./parsed-request.ts";
import { firstProblem, invalid, type RequestProblem } from "./request-problem.ts";
import { firstBrokenRule } from "./rules/all-rules.ts";
import { shapeProblems, unknownFieldsOf } from "./rules/shape-rules.ts";

export type RawRequest = {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values in turns, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
};

export type ReadOptions = {
  readonly keys?: readonly string[];
  readonly unknownBetas?: "refuse" | "accept";
  /** More model names, each with the name of the model whose rules apply. */
  readonly aliases?: Readonly<Record<string, string>>;
};

export type ReadResult =
  | { readonly type: "problem"; readonly problem: RequestProblem }
  | { readonly type: "hello" }
  | { readonly type: "models" }
  | { readonly type: "request"; readonly request: ParsedRequest };

export type HeaderMap = ReadonlyMap<string, string>;

/** Reads bytes into a request, and checks every rule that needs no state. */
export function readRawRequest(raw: RawRequest, options: ReadOptions): ReadResult {
  const headers = headerMap(raw.rawHeaders);
  const route = routeOf(raw);
  if (route === null) return refusal({ status: 404, type: "not_found_error", message: "Not Found" });
  if (route === "hello") return { type: "hello" };
  const problem = headProblem(headers, options);
  if (problem !== null) return refusal(problem);
  return route === "models"
    ? { type: "models" }
    : readBody({ raw, headers, endpoint: route, aliases: options.aliases ?? {} });
}

/** A header that is sent twice gets both values. */
export function headerMap(rawHeaders: readonly string[]): HeaderMap {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]).toLowerCase();
    const value = String(rawHeaders[at + 1]);
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** The secret of a request, from either of its two headers. */
export function credentialOf(headers: HeaderMap): string {
  const bearer = /^Bearer\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return (headers.get("x-api-key") ?? bearer ?? "").trim();
}

function routeOf({ method, target }: RawRequest): Endpoint | "hello" | "models" | null {
  const path = target.split("?", 1)[0];
  if (method === "POST" && path === "/v1/messages") return "messages";
  if (method === "POST" && path === "/v1/messages/count_tokens") return "count_tokens";
  if (method === "GET" && path === "/v1/models") return "models";
  return path === "/api/hello" && (method === "HEAD" || method === "GET") ? "hello" : null;
}

const versions = ["2023-01-01", "2023-06-01", "2026-10-21"];

function headProblem(headers: HeaderMap, options: ReadOptions): RequestProblem | null {
  const credential = credentialOf(headers);
  if (credential === "") return denied("a credential is required: x-api-key or Authorization: Bearer");
  if (options.keys !== undefined && !options.keys.includes(credential)) return denied("invalid x-api-key");
  const version = headers.get("anthropic-version");
  if (version === undefined) return invalid("anthropic-version", "header is required");
  if (!versions.includes(version)) return invalid("anthropic-version", "is not a valid version");
  if (options.unknownBetas === "accept") return null;
  const unknown = betasOf(headers).find((beta) => !knownBetas.has(beta));
  return unknown === undefined ? null : invalid("anthropic-beta", `Unexpected value \`${unknown}\``);
}

function denied(message: string): RequestProblem {
  return { status: 401, type: "authentication_error", message };
}

function betasOf(headers: HeaderMap): readonly string[] {
  const names = (headers.get("anthropic-beta") ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

type RawBodyInput = {
  readonly raw: RawRequest;
  readonly headers: HeaderMap;
  readonly endpoint: Endpoint;
  readonly aliases: Readonly<Record<string, string>>;
};

function readBody({ raw, headers, endpoint, aliases }: RawBodyInput): ReadResult {
  const parsed = parseJsonText(raw.body);
  if (parsed.type === "problem") return refusal(invalid("body", parsed.message));
  const body = parsed.value;
  if (!isObject(body)) return refusal(invalid("body", "expected an object"));
  const shapeProblem = firstProblem(shapeProblems(body, endpoint));
  if (shapeProblem !== null) return refusal(shapeProblem);
  const model = String(body["model"]);
  const rules = modelRules(Object.hasOwn(aliases, model) ? String(aliases[model]) : model);
  if (rules === null) return refusal({ status: 404, type: "not_found_error", message: `model: ${model}` });
  const request = parseRequest({ body, rules, headers, endpoint, numbers: parsed.numbers });
  const broken = firstBrokenRule(request);
  return broken === null ? { type: "request", request } : refusal(broken);
}

type ParseInput = {
  readonly body: JsonObject;
  readonly rules: ModelRules;
  readonly headers: HeaderMap;
  readonly endpoint: Endpoint;
  readonly numbers: NumberTexts;
};

/** Expects a body whose shape has been checked; the casts below rely on that. */
function parseRequest({ body, rules, headers, endpoint, numbers }: ParseInput): ParsedRequest {
  return {
    endpoint,
    model: String(body["model"]),
    rules,
    version: headers.get("anthropic-version") ?? "",
    betas: new Set(betasOf(headers)),
    system: contentBlocks(body["system"]),
    tools: (body["tools"] ?? []) as readonly JsonObject[], // every tool is an object
    messages: (body["messages"] as readonly JsonObject[]).map(messageOf), // and every message
    thinking: isObject(body["thinking"]) ? body["thinking"] : null,
    stream: body["stream"] === true,
    maxTokens: typeof body["max_tokens"] === "number" ? body["max_tokens"] : null,
    body,
    numbers,
    unknownFields: unknownFieldsOf(body),
  };
}

function messageOf(asSent: JsonObject): ParsedMessage {
  const role = asSent["role"] as ParsedMessage["role"]; // one of the three, by its shape
  return { role, content: contentBlocks(asSent["content"]), asSent };
}

function refusal(problem: RequestProblem): ReadResult {
  return { type: "problem", problem };
}
