import type { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import type { ModelRequest } from "../provider.ts";
import { converseEventReader, readConverseAnswer } from "./converse-reader.ts";
import { converseInput } from "./converse-request.ts";
import { type ExtraFields, messagesBody } from "./messages-body.ts";
import { type AnswerOrFailure, messageEventReader, readMessageAnswer } from "./messages-reader.ts";

export type BedrockSdk = typeof import("@aws-sdk/client-bedrock-runtime");

/** One request through the official client. Errors that the client throws are passed on. */
export type BedrockCall = {
  readonly sdk: BedrockSdk;
  readonly client: BedrockRuntimeClient;
  readonly signal: AbortSignal;
  readonly request: ModelRequest;
  readonly fields: ExtraFields;
  readonly streams: boolean;
  readonly onText: (text: string) => void;
  /** Called when an answer begins to arrive. */
  readonly onStart: () => void;
};

/** The version of the Messages API on Bedrock; `fields` may name a newer one. */
const anthropicVersion = "bedrock-2023-05-31";

/** Calls InvokeModel with a body of the Messages API, for Claude only. */
export async function invoke(call: BedrockCall): Promise<AnswerOrFailure> {
  const { sdk, client, request } = call;
  const body = { anthropic_version: anthropicVersion, ...messagesBody(request), ...call.fields };
  const input = {
    modelId: request.model,
    contentType: "application/json",
    accept: "application/json",
    body: Buffer.from(JSON.stringify(body)),
  };
  const settings = { abortSignal: call.signal };
  if (!call.streams) {
    return readMessageAnswer((await client.send(new sdk.InvokeModelCommand(input), settings)).body);
  }
  const answer = await client.send(new sdk.InvokeModelWithResponseStreamCommand(input), settings);
  const events = messageEventReader(call.onText);
  call.onStart();
  for await (const { chunk } of answer.body ?? []) {
    if (chunk?.bytes !== undefined) events.take(Buffer.from(chunk.bytes).toString());
  }
  return events.finish();
}

/** Calls Converse with blocks in Bedrock's own form, for every model. */
export async function converse(call: BedrockCall): Promise<AnswerOrFailure> {
  const { sdk, client } = call;
  const translated = converseInput(call.request, call.fields);
  if ("failure" in translated) return translated;
  const { input } = translated;
  const settings = { abortSignal: call.signal };
  if (!call.streams) return readConverseAnswer(await client.send(new sdk.ConverseCommand(input), settings));
  const answer = await client.send(new sdk.ConverseStreamCommand(input), settings);
  const events = converseEventReader(call.onText);
  call.onStart();
  for await (const event of answer.stream ?? []) events.take(event);
  return events.finish();
}
