// Every shape of message, in every way of announcing blocks, for every way a manifest can travel.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { instructionPoints } from "../support/instruction-points.ts";
import { textsFolder } from "./note-texts.ts";
import { playSession } from "./play-session.ts";
import { readRequests, readSession } from "./session-file.ts";

const carriers = ["clearing", "dropped", "kept", "none"] as const;
const modes = ["compact", "full", "off"] as const;
type Carrier = (typeof carriers)[number];

/** What a client may send, by the words of the step that sends it. */
const shapes = [
  /plain string/,
  /several texts/i,
  /a result and nothing else/i,
  /parallel calls, in another order/,
  /a result and a word of the user/i,
  /a text and an image/i,
  /system message of the client/,
  /message without content/,
  /ending with the model's words/,
  /one text/i,
];
const begun = [/begins the answer/, /begun with nothing in it/, /nobody begins/];

const manifest = /aperture .*CONTEXT MANIFEST k7f3/;

/** What shows that a manifest went this way, and no other. */
const signs: Readonly<Record<Carrier, (steps: readonly string[]) => void>> = {
  clearing: (steps) => {
    const told = steps.filter((step) => manifest.test(step));
    expect(told.length).toBeGreaterThan(6);
    expect(told.filter((step) => !/> system +aperture \{"role":"system","clear_at"/.test(step))).toEqual([]);
  },
  dropped: (steps) => {
    const told = steps.filter((step) => manifest.test(step));
    expect(told.length).toBeGreaterThan(6);
    // It is the last of its body, and the body after it shares one unit less.
    expect(told.filter((step) => !manifest.test(step.trimEnd().split("\n").at(-1) ?? ""))).toEqual([]);
    expect(told.filter((step) => step.includes("clear_at"))).toEqual([]);
  },
  kept: (steps) => {
    expect(steps.filter((step) => manifest.test(step))).toEqual([steps[0]]);
    expect(steps.join("")).not.toContain("clear_at");
  },
  none: (steps) => {
    const told = steps.map((step) => manifest.test(step));
    expect(told).toEqual([true, false, false, true]);
  },
};

const full = /--- Message ID: \d+ .*\[Part ID: \d+ /;
const compact = /\[k7f3 turn \d+, /;

describe.each(carriers)("%s", (carrier) => {
  test.each(modes)("with headers %s", (mode) => {
    const name = `${carrier}-${mode}`;
    const { awareness, steps: played } = readSession(name);
    expect(awareness?.headers ?? "compact").toBe(mode);
    const notes = played.map(({ note }) => note);
    const wanted = carrier === "none" ? begun : shapes;
    expect(wanted.filter((shape) => !notes.some((note) => shape.test(note)))).toEqual([]);
    const steps = readRequests(name);
    expect(steps).toHaveLength(played.length);
    signs[carrier](steps);
    expect([compact.test(steps.join("")), full.test(steps.join(""))]).toEqual([
      mode === "compact",
      mode === "full",
    ]);
  });
});

test.each(carriers)("%s: nothing of ours is among the model's words", (carrier) => {
  for (const mode of modes)
    expect(readRequests(`${carrier}-${mode}`).join()).not.toMatch(/assistant +aperture/);
});

describe("the instructions", () => {
  const text = readFileSync(join(textsFolder, "instructions", "text.txt"), "utf8");

  test.each(["reference-by-id", "monitor-ttl", "reasoning-recovery"])("have the point %s", (id) => {
    const point = instructionPoints.find((one) => one.id === id);
    expect(point).toBeDefined();
    expect(text).toMatch(point?.pattern ?? /^$/);
  });

  test("reach the model once, behind the client's system texts, and stay", async () => {
    const { exchanges } = await playSession(readSession("plain-talk"));
    for (const { units } of exchanges) {
      const system = units.filter(({ section }) => section === "system");
      const said = JSON.stringify({ type: "text", text: text.trimEnd() });
      expect(system.map((unit) => unit.text === said)).toEqual(
        system.map((_, at) => at === system.length - 1),
      );
      expect(units.filter((unit) => unit.text === said)).toHaveLength(1);
    }
  });
});
