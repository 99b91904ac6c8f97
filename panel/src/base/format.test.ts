import { describe, expect, it } from "vitest";
import { blockList as cliBlocks, formNames as cliForms } from "../../../src/cli/format/block-list.ts";
import * as cli from "../../../src/cli/format/number-text.ts";
import { moneyText as cliMoney } from "../../../src/cli/format/rewrite-text.ts";
import { usedText } from "../../../src/cli/format/window-text.ts";
import * as panel from "./format.ts";

const numbers = [
  0, 1, 7, 99, 999, 1_000, 1_049, 1_050, 9_999, 10_000, 123_456, 200_000, 999_949, 999_950, 1_000_000,
  12_345_678,
];

describe("panel and CLI format alike", () => {
  it.each(numbers)("%d", (n) => {
    expect(panel.tokensText(n)).toBe(cli.tokensText(n));
    expect(panel.sizeText(n)).toBe(cli.sizeText(n));
    expect(panel.bytesText(n)).toBe(cli.bytesText(n));
    expect(panel.countedText(n, false)).toBe(cli.countedText(n, false));
    expect(panel.pluralText(n, "block")).toBe(cli.pluralText(n, "block"));
    const money = { tokens: n, usd: n / 1_000 };
    expect(panel.moneyText(money)).toBe(cliMoney(money));
    expect(panel.moneyText({ ...money, usd: null })).toBe(cliMoney({ ...money, usd: null }));
    for (const whole of numbers) {
      expect(panel.percentText({ part: n, whole })).toBe(cli.percentText({ part: n, whole }));
    }
  });

  it("the use of a window, also of unknown size", () => {
    for (const used of numbers) {
      for (const size of [null, ...numbers.filter((n) => n >= used)]) {
        const row = { used, free: size === null ? null : size - used, size, exact: used % 2 === 0 };
        expect(panel.windowText(row)).toBe(usedText(row));
        expect(panel.windowText(row).includes("%")).toBe(size !== null && size > 0);
      }
    }
  });

  it("lists and forms of blocks", () => {
    expect(panel.formNames).toEqual(cliForms);
    const many = Array.from({ length: 12 }, (_, n) => n);
    expect(panel.blockList(many)).toBe(cliBlocks(many));
  });
});

it("the time left counts down to expired", () => {
  expect([300_000, 192_001, 59_000, 1, 0, -5].map(panel.leftText)).toEqual([
    "5:00 left",
    "3:13 left",
    "0:59 left",
    "0:01 left",
    "expired",
    "expired",
  ]);
});

describe("spend", () => {
  it("is an estimate, and unknown without a price", () => {
    expect(panel.spendText({ usd: null })).toBe("price unknown");
    expect(panel.spendText({ usd: 0 })).toBe("~$0.00");
    expect(panel.spendText({ usd: 0.004 })).toBe("<$0.01");
    expect(panel.spendText({ usd: 12.346 })).toBe("~$12.35");
  });
});
