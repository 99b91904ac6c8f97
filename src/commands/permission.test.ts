import { describe, expect, it } from "vitest";
import { unwrap } from "../base/index.ts";
import { parseCommand } from "./grammar.ts";
import { allows, type Lasting, type Permission, permissionFor } from "./permission.ts";

const given = (over: Partial<Permission>): Permission => ({
  verb: "pin",
  actor: "model",
  zone: "all",
  answer: "allow",
  lasts: "session",
  ...over,
});
const pinning = { actor: "model", command: unwrap(parseCommand("@pin(3)")), zone: "middle" } as const;

describe("a permission", () => {
  it.each(["once", "turn", "session"] as const)("for %s comes before one that holds always", (lasts) => {
    const [always, now] = [
      given({ lasts: "always", answer: "deny", zone: "middle" }),
      given({ lasts, verb: "all" }),
    ];
    expect(permissionFor([always, now], pinning)).toBe(now);
    expect(permissionFor([now, always], pinning)).toBe(now);
  });

  it("about the verb itself comes before one about all, in whichever order they were given", () => {
    const [pin, all] = [given({}), given({ verb: "all", answer: "deny" })];
    expect(permissionFor([pin, all], pinning)).toBe(pin);
    expect(permissionFor([all, pin], pinning)).toBe(pin);
  });

  it("about a zone comes before one about all, and of two alike the later counts", () => {
    const [near, far] = [given({ zone: "middle" }), given({ answer: "deny" })];
    expect(permissionFor([near, far], pinning)).toBe(near);
    const again = given({ zone: "middle", answer: "ask" });
    expect(permissionFor([near, again], pinning)).toBe(again);
  });

  it("fits its verb, or all, its actor and its zone", () => {
    expect(permissionFor([given({ verb: "all" })], pinning)).not.toBeNull();
    const others = [given({ verb: "unpin" }), given({ actor: "client" }), given({ zone: "cold" })];
    expect(permissionFor(others, pinning)).toBeNull();
    expect(permissionFor([given({ zone: "middle" })], { ...pinning, zone: null })).toBeNull();
  });

  it("that was given for later does not count where content speaks in commands", () => {
    const counts = (lasts: Lasting) => allows(given({ lasts }), { tainted: true });
    expect((["once", "turn", "session", "always"] as const).filter(counts)).toEqual(["once", "turn"]);
    expect(allows(given({ lasts: "always" }), { tainted: false })).toBe(true);
  });
});
