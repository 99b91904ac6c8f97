import { expect, it } from "vitest";
import { metricsText } from "./metrics-text.ts";

it("writes figures of one name together, with their type", () => {
  const snapshot = {
    'requests_total{outcome="complete"}': 3,
    viewers: 1,
    'requests_total{outcome="failed",upstream="anthropic"}': 0,
  };
  expect(metricsText(snapshot)).toBe(
    [
      "# TYPE aperture_requests_total counter",
      'aperture_requests_total{outcome="complete"} 3',
      'aperture_requests_total{outcome="failed",upstream="anthropic"} 0',
      "# TYPE aperture_viewers gauge",
      "aperture_viewers 1",
      "",
    ].join("\n"),
  );
});

it.each(['x{path="/a/b"}', 'x{text="two words"}', "x y", 'x{a="b"}\nevil', "Ä", 'x{a="é"}', 'x{a=""}'])(
  "leaves out %s, which is no figure of ours",
  (key) => {
    expect(metricsText({ [key]: 1 })).toBe("");
  },
);

it("leaves out what is not a number", () => {
  expect(metricsText({ a: Number.NaN, b: Number.POSITIVE_INFINITY })).toBe("");
});
