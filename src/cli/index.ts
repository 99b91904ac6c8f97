export { readArguments } from "./arguments.ts";
export { type RunningServer, type ServerOptions, startServer } from "./server.ts";
export { type Output, up } from "./up.ts";
export { exitCodes, usage } from "./usage.ts";
