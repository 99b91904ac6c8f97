#!/usr/bin/env node

// The status line of a client is drawn after every message, so it loads nothing that it does not need. The
// build puts this file and the status line into one, `main.cjs`: looking for files is what takes time.
const [verb, ...rest] = process.argv.slice(2);
const isStatusLine = verb === "statusline" && !rest.some((word) => word === "-h" || word === "--help");
if (isStatusLine) void import("./statusline/statusline.ts").then(({ statusline }) => statusline(rest));
else void import("./program.ts");
