import { bareCredential, credentialHeaders } from "./credentials.ts";
import { type Head, headersOf } from "./headers.ts";

/** Tokens that a login hands out, by the way they begin; a key for programs begins otherwise. */
const loginToken = /^(?:sk-ant-(?:oat|ort|sid)|ya29\.|eyJ[\w-]*\.[\w-]+\.)/;

/**
 * Whether a request is made in the name of a person's login rather than with a key. Clients of a login say so
 * beside the token as well, which counts even where its form is not known.
 */
export function isLogin(head: Head): boolean {
  if (head.names.includes("chatgpt-account-id")) return true;
  if (headersOf(head, "anthropic-beta").some((value) => /(?:^|[\s,])oauth-/.test(value))) return true;
  return credentialHeaders.some((name) =>
    headersOf(head, name).some((value) => loginToken.test(bareCredential(value))),
  );
}
