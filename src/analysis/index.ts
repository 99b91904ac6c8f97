export { assumptions } from "./play/assumptions.ts";
export { sum } from "./play/cost-sums.ts";
export { reportSession, type SessionReport } from "./session-report.ts";
export { type Totals, totalsOf } from "./totals.ts";
