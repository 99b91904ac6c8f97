import type { Json } from "../base/index.ts";
import type { WireBlock } from "./provider.ts";

/** The part of JSON Schema that describes tool inputs and that every model can fill. */
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

/** The TypeScript type of a value that fits a schema. */
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
  readonly [K in keyof S["properties"] as K extends RequiredOf<S> ? K : never]: ValueOf<S["properties"][K]>;
} & {
  readonly [K in keyof S["properties"] as K extends RequiredOf<S> ? never : K]?: ValueOf<S["properties"][K]>;
};
type RequiredOf<S extends ObjectSchema> = S["required"] extends readonly (infer R)[] ? R : never;

/** The result of a tool: a text, or blocks such as a text and a picture. */
export type ToolAnswer = string | readonly WireBlock[];

export type ToolRun = {
  /** Aborts when the run is cancelled or the tool takes too long. */
  readonly signal: AbortSignal;
  readonly agent: string;
  readonly stream: string;
  /** Unique for each call; a call that is repeated after a crash keeps its id. */
  readonly callId: string;
};

export type Tool = {
  readonly name: string;
  readonly description: string;
  readonly input: ObjectSchema;
  /** Maximum duration of a call. Absent: one minute. */
  readonly timeoutMs?: number;
  /** Whether a call that a crash cut off may be repeated. Absent: the agent is told that it was cut off. */
  readonly repeatable?: boolean;
  readonly run: (input: never, run: ToolRun) => ToolAnswer | Promise<ToolAnswer>;
};

type TypedTool<S extends ObjectSchema> = Omit<Tool, "input" | "run"> & {
  readonly input: S;
  readonly run: (input: ValueOf<S>, run: ToolRun) => ToolAnswer | Promise<ToolAnswer>;
};

/** Defines a tool; `run` gets an input of the type that its schema describes. */
export function defineTool<const S extends ObjectSchema>(tool: TypedTool<S>): Tool {
  return tool as unknown as Tool;
}

/** The first problem of an input, in words that help a model to correct it. Null if there is none. */
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
