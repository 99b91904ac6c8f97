import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { steppedClock } from "../../test/support/stepped-clock.ts";
import { limits } from "../base/index.ts";
import { Auth, pageProblem, writeProblem } from "./auth.ts";

const token = "a-token-of-this-test";
const requestWith = (headers: Readonly<Record<string, string>>) =>
  ({ headers }) as unknown as IncomingMessage;

function scene() {
  const clock = steppedClock(1_000_000);
  const auth = new Auth({ token, clock });
  const codeOf = () => auth.newLink().path.replace("/login?code=", "");
  const login = (code: string) => auth.login(code);
  const cookieOf = (code: string): string => {
    const result = login(code);
    return "cookie" in result ? (result.cookie.split(";", 1)[0] ?? "") : result.code;
  };
  return { clock, auth, codeOf, login, cookieOf };
}

describe("a token", () => {
  it("is accepted with any case of the scheme", () => {
    const { auth } = scene();
    expect(auth.proofOf(requestWith({ authorization: `Bearer ${token}` }))).toBe("token");
    expect(auth.proofOf(requestWith({ authorization: `bearer  ${token}` }))).toBe("token");
  });

  it.each(["", "Bearer", "Bearer ", `Bearer ${token}x`, `Bearer ${token.slice(1)}`, `Basic ${token}`, token])(
    "is refused as %j",
    (authorization) => {
      expect(scene().auth.proofOf(requestWith({ authorization }))).toBeNull();
    },
  );

  it("is refused if it is wrong, even with a valid cookie", () => {
    const { auth, codeOf, cookieOf } = scene();
    const cookie = cookieOf(codeOf());
    expect(auth.proofOf(requestWith({ cookie }))).toBe("cookie");
    expect(auth.proofOf(requestWith({ cookie, authorization: "Bearer x" }))).toBeNull();
  });

  it("may not be empty", () => {
    expect(() => new Auth({ token: "", clock: steppedClock(0) })).toThrow(/everybody/);
  });
});

describe("a login link", () => {
  it("works once", () => {
    const { codeOf, login } = scene();
    const code = codeOf();
    expect(login(code)).toHaveProperty("cookie");
    expect(login(code)).toMatchObject({ code: "AP_LOGIN_INVALID" });
  });

  it("works for a minute", () => {
    const { clock, codeOf, login } = scene();
    const [early, late] = [codeOf(), codeOf()];
    clock.advance(59_999);
    expect(login(early)).toHaveProperty("cookie");
    clock.advance(1);
    expect(login(late)).toMatchObject({ code: "AP_LOGIN_INVALID" });
  });

  it("sets a cookie that no script reads and no other site sends", () => {
    const { codeOf, login } = scene();
    expect(login(codeOf())).toEqual({
      cookie: expect.stringMatching(
        /^aperture-[0-9a-f]{8}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=604800$/,
      ),
    });
  });

  it("cannot be guessed: ten wrong codes in a minute lock all logins for a minute", () => {
    const { clock, codeOf, login } = scene();
    for (let n = 0; n < 10; n += 1) expect(login(`wrong${n}`)).toMatchObject({ code: "AP_LOGIN_INVALID" });
    expect(login(codeOf())).toMatchObject({ code: "AP_LOGIN_BUSY" });
    clock.advance(60_001);
    expect(login(codeOf())).toHaveProperty("cookie");
  });

  it("is dropped, the oldest first, when there are too many", () => {
    const { codeOf, login } = scene();
    const codes = Array.from({ length: limits.loginCodesMax + 1 }, codeOf);
    expect(login(codes[0] ?? "")).toMatchObject({ code: "AP_LOGIN_INVALID" });
    expect(login(codes[1] ?? "")).toHaveProperty("cookie");
  });
});

describe("a cookie", () => {
  it("is found among others, and ends after a week or with a logout", () => {
    const { auth, clock, codeOf, cookieOf } = scene();
    const [one, other] = [cookieOf(codeOf()), cookieOf(codeOf())];
    const proof = (cookie: string) => auth.proofOf(requestWith({ cookie: `theme=dark; ${cookie}; x=y` }));
    expect([proof(one), proof(other)]).toEqual(["cookie", "cookie"]);
    expect(auth.logout(requestWith({ cookie: one }))).toMatch(/=; .*Max-Age=0$/);
    expect([proof(one), proof(other)]).toEqual([null, "cookie"]);
    clock.advance(7 * 24 * 60 * 60 * 1_000);
    expect(proof(other)).toBeNull();
  });

  it("with another name or value is refused", () => {
    const { auth, codeOf, cookieOf } = scene();
    const [name = "", value = ""] = cookieOf(codeOf()).split("=");
    for (const cookie of [`${name}x=${value}`, `${name}=${value}x`, `${name}=`, name, ""]) {
      expect(auth.proofOf(requestWith({ cookie }))).toBeNull();
    }
  });
});

describe("a write with a cookie", () => {
  const right = { "x-aperture-csrf": "1", "content-type": "application/json; charset=utf-8" };

  it("needs a header and a type that other pages cannot send", () => {
    expect(writeProblem(requestWith(right))).toBeNull();
    const wrong = [
      { ...right, "x-aperture-csrf": "0" },
      { "content-type": "application/json" },
      { "x-aperture-csrf": "1" },
      { ...right, "content-type": "text/plain" },
      { ...right, "content-type": "application/x-www-form-urlencoded" },
      { ...right, "content-type": "text/plain; application/json" },
    ];
    for (const headers of wrong) expect(writeProblem(requestWith(headers))?.code).toBe("AP_WRITE_REFUSED");
  });
});

describe("a page of another origin", () => {
  const host = "127.0.0.1:4400";

  it.each([
    { host, origin: "http://evil.example" },
    { host, origin: "http://127.0.0.1:3000" },
    { host, origin: "null" },
    { host, "sec-fetch-site": "cross-site" },
    { host, "sec-fetch-site": "same-site" },
  ])("is refused: %j", (headers) => {
    expect(pageProblem(requestWith(headers))?.code).toBe("AP_PAGE_REFUSED");
  });

  it.each([
    { host },
    { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" },
    { host, "sec-fetch-site": "none" },
  ])("is not our own page or a program: %j", (headers) => {
    expect(pageProblem(requestWith(headers))).toBeNull();
  });
});
