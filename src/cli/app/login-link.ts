import type { LoginLink } from "../../control/index.ts";
import type { RunningApp } from "./app.ts";

/** A link that logs one browser into the panel of our own Aperture. It is valid for a minute. */
export async function loginLink({ url, token }: Pick<RunningApp, "url" | "token">): Promise<string> {
  const response = await fetch(`${url}/api/v1/login-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
  });
  const { path } = (await response.json()) as LoginLink; // our own server keeps to its contract
  return `${url}${path}`;
}
