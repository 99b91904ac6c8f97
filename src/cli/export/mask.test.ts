import { describe, expect, test } from "vitest";
import { maskSecretText, maskValue } from "./mask.ts";

// Assembled here, so that secret scanners do not report this file.
const secrets = [
  `sk-ant-${"api03-aB3".repeat(6)}`,
  `AKIA${"IOSFODNN7EXAMPLE"}`,
  `ghp_${"aB3dE6gH9".repeat(4)}`,
  `xoxb-${"123456789012-abcdefGHIJ"}`,
  `AIza${"SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY"}`,
  `eyJhbGciOiJI.eyJzdWIiOiIxMjM.${"SflKxwRJSMeKKF2QT4"}`,
  `-----BEGIN RSA PRIVATE KEY-----\nMIIEow${"x".repeat(40)}\n-----END RSA PRIVATE KEY-----`,
];

describe("masking", () => {
  test.each(secrets)("%s is masked, and the text around it stays", (secret) => {
    expect(maskSecretText(`before ${secret} after`)).toBe("before [masked] after");
  });

  test("values with telling names, and passwords in URLs, are masked", () => {
    expect(maskSecretText("Authorization: Bearer abcdef1234567890")).toBe("Authorization: Bearer [masked]");
    expect(maskSecretText("postgres://me:hunter22@db/x")).toBe("postgres://me:[masked]@db/x");
    expect(maskSecretText('{"api_key":"abc123def456"}')).toBe('{"api_key":"[masked]"}');
    expect(maskSecretText('{\\"password\\": \\"abc123def456\\"}')).toBe('{\\"password\\": \\"[masked]\\"}');
    expect(maskSecretText("DB_PASSWORD=abc123def456")).toBe("DB_PASSWORD=[masked]");
  });

  test("ordinary words, code and hashes stay", () => {
    const plain = [
      "the password is checked in login.ts",
      "const secret = readSecret(path);",
      "max_tokens: 4096, tokens: 12000",
      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
      "https://example.org:8080/path",
      "a task-force of sk-8 people",
    ];
    for (const text of plain) expect(maskSecretText(text)).toBe(text);
  });

  test("values keep their shape", () => {
    const value = { a: [1, null, { b: secrets[0] }], c: true };
    expect(maskValue(value)).toEqual({ a: [1, null, { b: "[masked]" }], c: true });
  });
});
