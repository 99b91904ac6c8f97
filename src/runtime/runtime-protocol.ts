import { must } from "../base/index.ts";
import { findProtocol } from "../protocols/index.ts";

/** The format in which agents keep their prompts; provider adapters translate it for other APIs. */
export const wire = must(findProtocol("anthropic"), "the Messages API is implemented");
