import { knownBetas } from "./betas.ts";
import { isObject, type JsonObject, type NumberTexts, parseJsonText } from "./json-text.ts";
import { type ModelRules, modelRules } from "./models.ts";
import { firstOf, invalid, type Problem } from "./problem.ts";
import { blocksOf, type Endpoint, type ParsedMessage, type ParsedRequest } from "./request.ts";
import { ruleBroken } from "./rules.ts";
import { shapeProblems, unknownFieldsOf } from "./rules-shape.ts";

export type RawRequest = {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names and values by turns, as received. */
  readonly rawHeaders: readonly string[];
  readonly body: Uint8Array;
};

export type ReadOptions = {
  readonly keys?: readonly string[];
  readonly unknownBetas?: "refuse" | "accept";
  /** Further model names, each with the name of the model whose rules it has. */
  readonly aliases?: Readonly<Record<string, string>>;
};

export type Reading =
  | { readonly type: "problem"; readonly problem: Problem }
  | { readonly type: "hello" }
  | { readonly type: "models" }
  | { readonly type: "request"; readonly request: ParsedRequest };

export type Headers = ReadonlyMap<string, string>;

/** From bytes to a request that keeps every rule which can be checked on the request alone. */
export function readRequest(raw: RawRequest, options: ReadOptions): Reading {
  const headers = headersOf(raw.rawHeaders);
  const route = routeOf(raw);
  if (route === null) return refusal({ status: 404, type: "not_found_error", message: "Not Found" });
  if (route === "hello") return { type: "hello" };
  const problem = headProblem(headers, options);
  if (problem !== null) return refusal(problem);
  return route === "models"
    ? { type: "models" }
    : readBody({ raw, headers, endpoint: route, aliases: options.aliases ?? {} });
}

/** A header that is sent twice is one with both values. */
export function headersOf(rawHeaders: readonly string[]): Headers {
  const headers = new Map<string, string>();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]).toLowerCase();
    const value = String(rawHeaders[at + 1]);
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return headers;
}

/** The secret that came with a request, by either way. */
export function credentialOf(headers: Headers): string {
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

function headProblem(headers: Headers, options: ReadOptions): Problem | null {
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

function denied(message: string): Problem {
  return { status: 401, type: "authentication_error", message };
}

function betasOf(headers: Headers): readonly string[] {
  const names = (headers.get("anthropic-beta") ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

type BodyQuestion = {
  readonly raw: RawRequest;
  readonly headers: Headers;
  readonly endpoint: Endpoint;
  readonly aliases: Readonly<Record<string, string>>;
};

function readBody({ raw, headers, endpoint, aliases }: BodyQuestion): Reading {
  const parsed = parseJsonText(raw.body);
  if (parsed.type === "problem") return refusal(invalid("body", parsed.message));
  const body = parsed.value;
  if (!isObject(body)) return refusal(invalid("body", "expected an object"));
  const misshapen = firstOf(shapeProblems(body, endpoint));
  if (misshapen !== null) return refusal(misshapen);
  const model = String(body["model"]);
  const rules = modelRules(Object.hasOwn(aliases, model) ? String(aliases[model]) : model);
  if (rules === null) return refusal({ status: 404, type: "not_found_error", message: `model: ${model}` });
  const request = requestOf({ body, rules, headers, endpoint, numbers: parsed.numbers });
  const broken = ruleBroken(request);
  return broken === null ? { type: "request", request } : refusal(broken);
}

type RequestQuestion = {
  readonly body: JsonObject;
  readonly rules: ModelRules;
  readonly headers: Headers;
  readonly endpoint: Endpoint;
  readonly numbers: NumberTexts;
};

/** Expects a body whose shape has been checked; the casts below lean on that. */
function requestOf({ body, rules, headers, endpoint, numbers }: RequestQuestion): ParsedRequest {
  return {
    endpoint,
    model: String(body["model"]),
    rules,
    version: headers.get("anthropic-version") ?? "",
    betas: new Set(betasOf(headers)),
    system: blocksOf(body["system"]),
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
  return { role, content: blocksOf(asSent["content"]), asSent };
}

function refusal(problem: Problem): Reading {
  return { type: "problem", problem };
}
