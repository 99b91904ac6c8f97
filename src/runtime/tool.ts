import type { Json } from "../base/index.ts";
import type { ModelTool, WireBlock } from "./provider.ts";

/** The part of JSON Schema that tools are described with, and that every model can fill. */
export type Schema =
  | { readonly type: "string"; readonly enum?: readonly string[]; readonly description?: string }
  | { readonly type: "number" | "integer" | "boolean"; readonly description?: string }
  | { readonly type: "array"; readonly items: Schema; readonly description?: string }
  | ObjectSchema;

export type ObjectSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
};

/** What a value of a schema is, in types. */
export type ValueOf<S extends Schema> = S extends {
  readonly type: "string";
  readonly enum: readonly (infer E)[];
}
  ? E
  : S extends { readonly type: "string" }
    ? string
    : S extends { readonly type: "number" | "integer" }
      ? number
      : S extends { readonly type: "boolean" }
        ? boolean
        : S extends { readonly type: "array"; readonly items: infer I extends Schema }
          ? readonly ValueOf<I>[]
          : S extends ObjectSchema
            ? FieldsOf<S>
            : never;

type FieldsOf<S extends ObjectSchema> = {
  readonly [K in keyof S["properties"] as K extends NeededOf<S> ? K : never]: ValueOf<S["properties"][K]>;
} & {
  readonly [K in keyof S["properties"] as K extends NeededOf<S> ? never : K]?: ValueOf<S["properties"][K]>;
};
type NeededOf<S extends ObjectSchema> = S["required"] extends readonly (infer R)[] ? R : never;

/** What a tool answers: a text, or blocks such as a text and a picture. */
export type ToolAnswer = string | readonly WireBlock[];

export type ToolRun = {
  /** Ends when the run is cancelled or the tool takes too long. */
  readonly signal: AbortSignal;
  readonly agent: string;
  readonly stream: string;
  /** The same when a call is made again after a crash, and for no other call. */
  readonly callId: string;
};

/** A tool as an agent has it. */
export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly input: ObjectSchema;
  /** So long it may take; left out, a minute. */
  readonly timeoutMs?: number;
  /**
   * Whether a call that was cut off by a crash may be made again. Otherwise the agent is told that it was cut
   * off.
   */
  readonly repeatable?: boolean;
  readonly run: (input: never, run: ToolRun) => ToolAnswer | Promise<ToolAnswer>;
};

type Described<S extends ObjectSchema> = Omit<Tool, "input" | "run"> & {
  readonly input: S;
  readonly run: (input: ValueOf<S>, run: ToolRun) => ToolAnswer | Promise<ToolAnswer>;
};

/** A tool whose input has the type its schema says. */
export function defineTool<const S extends ObjectSchema>(tool: Described<S>): Tool {
  return tool as unknown as Tool;
}

export function modelTool({ name, description, input }: Tool): ModelTool {
  return { name, description, input_schema: input as unknown as ModelTool["input_schema"] };
}

/** What is wrong with an input, in words a model learns from; null: nothing. */
export function inputProblem(schema: Schema, value: Json | undefined, at = "the input"): string | null {
  switch (schema.type) {
    case "object":
      return objectProblem(schema, value, at);
    case "array": {
      if (!Array.isArray(value)) return `${at} must be a list`;
      return firstProblem(value.map((item, index) => inputProblem(schema.items, item, `${at}[${index}]`)));
    }
    case "string": {
      if (typeof value !== "string") return `${at} must be a text`;
      const isAllowed = schema.enum === undefined || schema.enum.includes(value);
      return isAllowed ? null : `${at} must be one of ${schema.enum?.join(", ")}`;
    }
    case "boolean":
      return typeof value === "boolean" ? null : `${at} must be true or false`;
    case "integer":
      return Number.isInteger(value) ? null : `${at} must be a whole number`;
    case "number":
      return typeof value === "number" ? null : `${at} must be a number`;
  }
}

function objectProblem(
  { properties, required = [] }: ObjectSchema,
  value: Json | undefined,
  at: string,
): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `${at} must be an object`;
  const fields = value as { readonly [key: string]: Json };
  const missing = required.find((name) => !Object.hasOwn(fields, name));
  if (missing !== undefined) return `${missing} is missing`;
  const unknown = Object.keys(fields).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) return `there is no ${unknown}; known are ${Object.keys(properties).join(", ")}`;
  return firstProblem(
    Object.entries(fields).map(([name, field]) => {
      const schema = properties[name];
      return schema === undefined ? null : inputProblem(schema, field, name);
    }),
  );
}

function firstProblem(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}
