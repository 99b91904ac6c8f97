import { describe, expect, it } from "vitest";
import { unwrap } from "../base/index.ts";
import { parseCommand } from "./grammar.ts";
import { type CommandPermission, isAllowedBy, type PermissionDuration, permissionFor } from "./permission.ts";

const permission = (over: Partial<CommandPermission>): CommandPermission => ({
  verb: "pin",
  actor: "model",
  zone: "all",
  answer: "allow",
  lasts: "session",
  ...over,
});
const pinCommand = { actor: "model", command: unwrap(parseCommand("@pin(3)")), zone: "middle" } as const;

describe("a permission", () => {
  it.each(["once", "turn", "session"] as const)("for %s comes before one that holds always", (lasts) => {
    const [always, now] = [
      permission({ lasts: "always", answer: "deny", zone: "middle" }),
      permission({ lasts, verb: "all" }),
    ];
    expect(permissionFor([always, now], pinCommand)).toBe(now);
    expect(permissionFor([now, always], pinCommand)).toBe(now);
  });

  it("about the verb itself comes before one about all, in any order", () => {
    const [pin, all] = [permission({}), permission({ verb: "all", answer: "deny" })];
    expect(permissionFor([pin, all], pinCommand)).toBe(pin);
    expect(permissionFor([all, pin], pinCommand)).toBe(pin);
  });

  it("about a zone comes before one about all, and of two equally specific ones the later counts", () => {
    const [near, far] = [permission({ zone: "middle" }), permission({ answer: "deny" })];
    expect(permissionFor([near, far], pinCommand)).toBe(near);
    const again = permission({ zone: "middle", answer: "ask" });
    expect(permissionFor([near, again], pinCommand)).toBe(again);
  });

  it("fits its verb, or all, its actor and its zone", () => {
    expect(permissionFor([permission({ verb: "all" })], pinCommand)).not.toBeNull();
    const others = [
      permission({ verb: "unpin" }),
      permission({ actor: "client" }),
      permission({ zone: "cold" }),
    ];
    expect(permissionFor(others, pinCommand)).toBeNull();
    expect(permissionFor([permission({ zone: "middle" })], { ...pinCommand, zone: null })).toBeNull();
  });

  it("for the session or always does not count in a tainted turn", () => {
    const counts = (lasts: PermissionDuration) => isAllowedBy(permission({ lasts }), { isTainted: true });
    expect((["once", "turn", "session", "always"] as const).filter(counts)).toEqual(["once", "turn"]);
    expect(isAllowedBy(permission({ lasts: "always" }), { isTainted: false })).toBe(true);
  });
});
