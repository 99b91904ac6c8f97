import type { OwnText, RecordedText } from "./acceptance-texts.ts";

/**
 * Written before the rules were changed for summaries by hand; of these only the totals were looked at. As
 * many more were written with them and moved to acceptance-hand.ts when the rules were tuned on those.
 */
export const holdoutTexts: readonly OwnText[] = [
  {
    text: `Please review the pull request, but do not approve it yet. I care about three things. First, the public API in src/index.ts must
not change, because two customers have pinned it. Second, parseConfig should report all problems at once and not only the first one.
Third, there has to be a test for Windows paths; we had two regressions there this year. Style is less important. If you find
something that cannot be fixed within a day, open an issue and leave it. The deadline is Friday, 17:00.`,
    summaries: [
      `The pull request is to be reviewed but not approved yet. Points: the public API in src/index.ts must stay unchanged (two customers pinned it), parseConfig should report all problems at once, and a test for Windows paths is required.
Whatever cannot be fixed within one day becomes an issue. Deadline: Friday 17:00.`,
      `Review, don't approve yet. src/index.ts must not change its public API. parseConfig has to report every problem, not only the first. A Windows path test must exist, after two regressions this year.`,
    ],
  },
  {
    text: `I profiled the start of the app. 1.9 of the 2.6 seconds are spent in loadPlugins, which reads every folder in plugins/ one after
the other. Reading them in parallel brings it down to 0.4 s. Another 0.3 seconds go into compiling the templates; caching them on
disk would help, but the cache must be invalidated when the version changes, and I have not done that. The rest is Node itself. I
changed src/plugins/load.ts only. All tests pass. On Windows I could not measure.`,
    summaries: [
      `App start: of 2.6 seconds, 1.9 s were spent in loadPlugins reading the folders in plugins/ sequentially; in parallel it takes 0.4 s. Template compilation accounts for 0.3 s more and could be cached on disk (not done; the cache must be invalidated when the version changes).
Only src/plugins/load.ts was changed, all tests pass, Windows was not measured.`,
      `loadPlugins now reads folders in parallel (src/plugins/load.ts), 0.4 seconds instead of 1.9. Caching templates would save 0.3 seconds but was not done, as the cache must be invalidated on a version change. Tests pass.`,
    ],
  },
  {
    text: `Travel policy, short version. Trips under 400 km are made by train. Flights need the approval of the head of department, except
for interviews. Hotels may cost at most 140 euros per night, in Zurich and London 190. Receipts have to be handed in within 30 days;
after that nothing is paid. Taxis are only paid at night or with heavy luggage. Private cars are reimbursed with 0.30 euros per
kilometre. Upgrades are never paid, not even with own miles. Questions: travel@firm.example.`,
    summaries: [
      `Trips below 400 km go by train; flights need approval by the head of department, except for interviews.
Hotels: at most 140 euros a night (190 in Zurich and London). Receipts must be handed in within 30 days, otherwise nothing is paid. Taxis are paid only at night or with heavy luggage, upgrades never.`,
      `Hotel costs are limited to at most 140 euros per night, 190 in London and Zurich. Flights need the approval of the department head (interviews excepted). Upgrades are never paid. Taxis only at night or with heavy luggage. Hand receipts in within thirty days. Private cars: 0.30 euros per km.`,
    ],
  },
  {
    text: `I looked into the memory leak. The heap grows by about 6 MB per hour, and a snapshot shows 240,000 Listener objects held by
EventBus in core/bus.ts. subscribe() is called on every render of ChartPanel, but unsubscribe() only when the page is closed. I moved
the call into an effect with a cleanup. After four hours the heap was stable at 88 MB. There is a second, smaller leak in the worker
that I did not touch, it needs somebody who knows the protocol. Please do not deploy this before Thursday: the release freeze is on.`,
    summaries: [
      `Cause of the memory leak (6 MB per hour): ChartPanel called subscribe() on every render without unsubscribing, so EventBus (core/bus.ts) held 240,000 Listener objects. After moving the call into an effect with cleanup the heap stayed at 88 MB for 4 hours.
A smaller leak in the worker remains. Do not deploy before Thursday because of the release freeze.`,
      `The leak came from EventBus listeners that were never removed; fixed by an effect with a cleanup in ChartPanel. The heap is now stable at 88 MB. The second leak, in the worker, was not touched. This must not be deployed before Thursday.`,
    ],
  },
];

/** Of recorded sessions, which lie beside the repository: their texts are found by how they begin. */
export const holdoutRecorded: readonly RecordedText[] = [
  {
    session: "pi-pi-mono-01",
    starts: "Great! It builds successfully. Now let's verify the theme change",
    summaries: [
      `getThinkingBorderColor() was added to the Theme class; it maps the levels off, minimal, low, medium and high to dim, borderMuted, border, borderAccent and accent. It returns a function compatible with Editor.borderColor. No new design tokens were needed.`,
      `The thinking border colors now use existing theme tokens through a new method, getThinkingBorderColor(), in \`Theme\`: from \`dim\` for off to \`accent\` for high. It builds successfully and works with both dark and light themes.`,
    ],
  },
  {
    session: "cc-entire-cli-04",
    starts: "Based on my analysis, here's what could become stale for each strategy",
    summaries: [
      `What can become stale: shadow branches (cleaned up already, manual-commit only), session states in .git/entire-sessions/, and checkpoint metadata on the entire/sessions branch, which is orphaned when auto-commit commits are rebased.
Proposal: find checkpoints that no commit references through its Entire-Checkpoint trailer; manual-commit checkpoints are permanent and are skipped.`,
      `Proposed cleanup: checkpoint metadata of auto-commit checkpoints is orphaned if not referenced by any commit (Entire-Checkpoint trailers). Session states are orphaned if no checkpoint references the session ID and no shadow branch exists for the base commit. Manual-commit checkpoints are permanent; skip them.`,
    ],
  },
];
