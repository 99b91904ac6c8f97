import { describe, expect, it } from "vitest";
import { LineContext } from "./line-context.ts";

function isFreeAfter(text: string): boolean {
  const context = new LineContext();
  for (const line of text.split("\n")) context.passLine(line);
  return context.isFree;
}

describe("the next line", () => {
  it.each([
    "",
    "words",
    "```\ncode\n```",
    "```js\r\ncode\r\n```\r",
    "~~~~\n~~~\n~~~~~",
    "- item\n  ```\n  code\n  ```",
    "1. item\n\n   ```\n   code\n   ```\n",
    "- ```\n  code\nback to the left",
    "- a\n  - b\n    - ~~~\n      code\n      ~~~",
    "    ```\n",
    "-     ``` code\n",
    "``` inline ``` and ``more``",
    "a `b` c",
    "a ` b\n",
    "> quoted\n\n",
    "> ```\n> code\n\n",
    "<b>bold</b>\n",
    "<!-- note -->\n",
    "<pre>\n```\n</pre>\n",
    "<prefix>\n```\n```\n",
    "<pre>x</pre>",
    "* * *",
  ])("is free after %j", (text) => {
    expect(isFreeAfter(text)).toBe(true);
  });

  it.each([
    "```",
    "```\n    ```",
    "```\n``",
    "```\n~~~",
    "``` js\ncode\n``` js",
    "   ~~~ `x`",
    "    ```\n\n```",
    "- ```\n  code",
    "- ```\n  code\nafter\n```",
    "- a\n  - ```\n    code\n    more",
    "a ` b",
    "a `` b ` c",
    "# head ` x\ny ` z",
    "- one ` x\n- two ` y",
    "> quoted",
    "> quoted\nand on",
    "- > quoted",
    "> ```\n```",
    "<pre>",
    "<pre>\n\n",
    "<!-- note\n\n",
    "<div>",
    "<b>x\n```\n\n",
    "<pre>\n```\n</pre>\n```",
    "<div>\n```\n\n```\n\n```\n```",
    "<PRE>\nx\n</PRE\n",
  ])("is not free after %j", (text) => {
    expect(isFreeAfter(text)).toBe(false);
  });

  it("is never free once a text can be read in too many ways", () => {
    const lines = Array.from({ length: 400 }, (_, at) => `x ${"`".repeat((at % 37) + 1)} y`).join("\n");
    expect(isFreeAfter(lines)).toBe(false);
    expect(isFreeAfter(`${lines}\n\n`)).toBe(false);
  });
});
