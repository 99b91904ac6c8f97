import { describe, expect, it } from "vitest";
import { unwrap } from "../base/index.ts";
import { parseCommand } from "./grammar.ts";
import { afterUse, inForce, type Permission, permissionFor } from "./permission.ts";

const given = (over: Partial<Permission>): Permission => ({
  verb: "pin",
  actor: "model",
  answer: "allow",
  lasts: "session",
  turn: 4,
  ...over,
});
const pinning = { actor: "model", command: unwrap(parseCommand("@pin(3)")) } as const;

describe("a permission", () => {
  it("for a turn ends with it; others go on", () => {
    const all = (["once", "turn", "session", "always"] as const).map((lasts) => given({ lasts }));
    expect(inForce(all, 4)).toEqual(all);
    expect(inForce(all, 5).map(({ lasts }) => lasts)).toEqual(["once", "session", "always"]);
  });

  it("for one command is used up by the one it decides", () => {
    const [always, once, other] = [
      given({ lasts: "always" }),
      given({ lasts: "once" }),
      given({ verb: "archive" }),
    ];
    const permissions = [always, once, other];
    expect(permissionFor(permissions, pinning)).toBe(once);
    const after = afterUse(permissions, pinning);
    expect(after).toEqual([always, other]);
    expect(afterUse(after, pinning)).toBe(after);
  });

  it("about the verb itself comes before one about all, in whichever order they were given", () => {
    const [pin, all] = [given({}), given({ verb: "all", answer: "deny" })];
    expect(permissionFor([pin, all], pinning)).toBe(pin);
    expect(permissionFor([all, pin], pinning)).toBe(pin);
    expect(permissionFor([given({ answer: "deny" }), pin], pinning)).toBe(pin);
  });

  it("fits its verb, or all, and its actor", () => {
    expect(permissionFor([given({ verb: "all" })], pinning)).not.toBeNull();
    expect(permissionFor([given({ verb: "unpin" }), given({ actor: "client" })], pinning)).toBeNull();
  });
});
