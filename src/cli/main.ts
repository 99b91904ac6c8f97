#!/usr/bin/env node

// A client draws its status line after every message, so this loads nothing else. The build bundles this file
// and the status line into `main.cjs`, because resolving files takes most of the time.
const [verb, ...rest] = process.argv.slice(2);
const isStatusLine = verb === "statusline" && !rest.some((word) => word === "-h" || word === "--help");
if (isStatusLine) void import("./statusline/statusline.ts").then(({ statusline }) => statusline(rest));
else void import("./program.ts");
