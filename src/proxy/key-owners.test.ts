import { expect, test } from "vitest";
import { readHead } from "./headers.ts";
import { misplacedKey } from "./key-owners.ts";

const keys = { anthropic: "sk-ant-api03-x", openai: "sk-proj-x", google: "AIzaSyx", other: "sk-x" };
const hosts = {
  anthropic: "api.anthropic.com",
  openai: "api.openai.com",
  google: "generativelanguage.googleapis.com",
  gateway: "gateway.example",
} as const;

test.each(Object.keys(keys) as (keyof typeof keys)[])(
  "a key of %s goes to its owner or a gateway",
  (owner) => {
    for (const [name, host] of Object.entries(hosts)) {
      const allowed = name === owner || name === "gateway" || owner === "other";
      for (const header of ["Authorization", "X-Api-Key", "x-goog-api-key", "api-key"]) {
        const value = header === "Authorization" ? `Bearer ${keys[owner]}` : keys[owner];
        const refusal = misplacedKey(readHead([header, value]), host);
        expect(refusal === null, `${owner} to ${name} in ${header}`).toBe(allowed);
        expect(refusal?.error.message ?? "").not.toContain(keys[owner]);
      }
    }
  },
);
