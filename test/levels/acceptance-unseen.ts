import type { OwnText } from "./acceptance-texts.ts";

/** Written late; no case of these was looked at when the rules were changed. */
export const unseenTexts: readonly OwnText[] = [
  {
    text: `Can you move the image resizing into a worker? At the moment resizeImage in packages/media/resize.ts blocks the
main thread for about 350 ms per picture. Use worker_threads and start at most 4 workers. The order of the results must
stay the same. Do not change the cache format, old entries have to remain readable. If a worker crashes, the picture should be
tried once more and then be reported as failed. The quality is 82 and stays there.`,
    summaries: [
      `Image resizing (resizeImage in packages/media/resize.ts) should move into worker_threads, with at most 4 workers, because it blocks the main thread for about 350 ms per picture.
The order of the results must stay the same, and the cache format must not be changed.
After a crash a picture is tried once more, then reported as failed.`,
      `- Move resizeImage into worker_threads (at most 4 workers)
- The order of results must stay the same
- Do not change the cache format; old entries have to remain readable
- Quality stays at 82`,
    ],
  },
  {
    text: `I finished the migration of the billing module to TypeScript. 14 of 15 files in src/billing are converted; legacy-tax.js
is left, because nobody knows what its tables mean. The compiler found two real errors: computeVat returned a string for
Swiss customers, and invoiceDate could be undefined. Both are fixed. All 203 tests pass. I did not change any behaviour
apart from that. The build is 3 seconds slower. Please do not merge before Jana has looked at computeVat.`,
    summaries: [
      `14 of 15 files in src/billing were converted to TypeScript; legacy-tax.js is left because nobody knows what its tables mean.
Two errors were fixed: computeVat returned a string for Swiss customers, and invoiceDate could be undefined.
All 203 tests pass.
Do not merge before Jana has looked at computeVat.`,
      `The billing module is in TypeScript now, except legacy-tax.js. Two real errors (computeVat, invoiceDate) were found and fixed, all 203 tests pass.
It must not be merged before Jana has looked at computeVat.`,
    ],
  },
  {
    text: `The bridge was inspected on 9 May. Two of the 36 bolts on the north side were loose and have been tightened. The rust on
the railing is not dangerous. Lorries over 12 tons must not cross until the bearing is replaced, which is planned for the
week of 2 June. The sensor BR-7 failed in the cold and reported 0 mm; it was exchanged. Measurements are stored in
bridge_log and must be kept for 10 years. The next inspection is due in 6 months.`,
    summaries: [
      `At the inspection on 9 May two of 36 bolts on the north side were loose and have been tightened; the rust on the railing is not dangerous.
Lorries over 12 tons must not cross until the bearing is replaced (planned for the week of 2 June).
Measurements in bridge_log must be kept for 10 years.`,
      `Lorries over 12 tons must not cross the bridge until the bearing is replaced.
Sensor BR-7 failed in the cold and was exchanged.
The measurements must be kept for 10 years. Next inspection: in 6 months.`,
    ],
  },
  {
    text: `The error comes from the pool. After 10 connections, getConnection waits for ever, because release is never called when a
query throws. I reproduced it with test/db/pool-leak.test.ts, which failed before and passes now. The fix uses finally. There
is one more place, exportLedger in src/db/export.ts, that I have not fixed, since it uses its own pool. Raising the limit to
100 would only hide the problem. You must restart the service after the update; a reload is not enough.`,
    summaries: [
      `The pool hangs after 10 connections, because release is never called when a query throws; the fix uses finally.
test/db/pool-leak.test.ts failed before and passes now.
exportLedger in src/db/export.ts is not fixed, since it uses its own pool.
The service must be restarted after the update; a reload is not enough.`,
      `Cause: release is never called when a query throws, so getConnection waits for ever after 10 connections. Fixed with finally.
Not fixed: exportLedger (src/db/export.ts).
After the update you must restart the service, a reload is not enough.`,
    ],
  },
  {
    text: `For the conference we booked hall B with 220 seats. Catering is ordered for 180 people, and changes are possible until
3 September. Speakers get a free room for 2 nights; travel is only paid within Europe. The recordings must not be published
without the consent of the speaker. Last year the livestream failed for 25 minutes, so this time there are two lines. The
sponsor pays 9,000 euros on condition that its logo is never larger than ours. Tickets are not refunded after 20 August.`,
    summaries: [
      `Hall B (220 seats) is booked, catering is ordered for 180 people and can be changed until 3 September.
Travel is only paid within Europe; speakers get a free room for 2 nights.
Recordings must not be published without the speaker's consent.
Tickets are not refunded after 20 August.`,
      `The recordings must not be published without consent of the speaker.
There are two lines for the livestream, because it failed for 25 minutes last year.
The sponsor pays 9,000 euros; its logo is never larger than ours.`,
    ],
  },
  {
    text: `Please keep the following in mind for all further work in this repository. Never commit directly to main; open a pull
request instead. Commit messages are written in English and have at most 72 characters in the first line. Generated files in
gen/ must not be edited by hand, run make generate instead. Tests that need the network are marked with @online and are
skipped in the pipeline. You may add dependencies only if they are under the MIT or the Apache licence. The release is built
by the pipeline, so do not push tags. Questions go to the channel platform-help.`,
    summaries: [
      `Never commit directly to main; open a pull request instead. Do not push tags, because the release is built by the pipeline.
Commit messages are in English, with at most 72 characters in the first line.
Generated files in gen/ must not be edited by hand: run make generate.
Dependencies may be added only under the MIT or the Apache licence.`,
      `Rules of the repository:
- never commit directly to main
- do not push tags
- files in gen/ must not be edited by hand
- dependencies may only be added if they are under MIT or Apache licence
- at most 72 characters in the first line of a commit message`,
    ],
  },
];
