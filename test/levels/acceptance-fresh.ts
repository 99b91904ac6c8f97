import type { OtherText } from "./acceptance-others.ts";

/**
 * Written before the rules were redesigned, and never used to change them: only the totals of this group
 * were read.
 */
export const freshTexts: readonly OtherText[] = [
  {
    text: `$ pytest -q tests/billing
..............F.....s..........F....                                     [100%]
=================================== FAILURES ===================================
______________________ test_refund_rounds_half_up ______________________________
tests/billing/test_refund.py:88: in test_refund_rounds_half_up
    assert refund(Decimal("10.005")) == Decimal("10.01")
E   AssertionError: assert Decimal('10.00') == Decimal('10.01')
______________________ test_invoice_pdf_has_vat ________________________________
tests/billing/test_invoice.py:141: in test_invoice_pdf_has_vat
    assert "VAT 19%" in text
E   AssertionError: assert 'VAT 19%' in 'Invoice 2041 ... VAT 7%'
=========================== short test summary info ============================
SKIPPED [1] tests/billing/test_stripe.py:12: needs STRIPE_KEY
2 failed, 33 passed, 1 skipped in 14.62s`,
    cases: [
      {
        faithful: `The billing tests took 14.62 s: 33 passed, 2 failed, 1 was skipped for lack of STRIPE_KEY. test_refund_rounds_half_up (tests/billing/test_refund.py:88) got 10.00 instead of 10.01, and test_invoice_pdf_has_vat found "VAT 7%" where it expected "VAT 19%".`,
        damaged: [
          ["numbers exchanged", "33 passed, 2 failed", "2 passed, 33 failed"],
          ["numbers exchanged", "got 10.00 instead of 10.01", "got 10.01 instead of 10.00"],
          ["name changed", "test_refund.py:88", "test_invoice.py:88"],
          ["unit changed", "14.62 s", "14.62 min"],
        ],
      },
      {
        faithful: `Two billing failures: refund rounding (test_refund.py line 88, 10.00 vs. 10.01) and the VAT rate on the invoice PDF (7% instead of 19%). Everything else is green apart from the Stripe test, which needs a key.`,
        damaged: [
          ["number changed", "line 88", "line 141"],
          ["outcome turned", "Everything else is green", "Everything else is red"],
          ["number lost", "(7% instead of 19%)", "(instead of 19%)"],
        ],
      },
    ],
  },
  {
    text: `Nov 03 22:14:51 edge-4 kernel: nvme0n1: I/O error, dev nvme0n1, sector 88123904
Nov 03 22:14:52 edge-4 kernel: EXT4-fs error (device nvme0n1p2): ext4_find_entry: reading directory lblock 0
Nov 03 22:14:52 edge-4 kernel: EXT4-fs (nvme0n1p2): Remounting filesystem read-only
Nov 03 22:14:58 edge-4 cached[612]: write failed: Read-only file system (/var/cache/objects/7f)
Nov 03 22:15:00 edge-4 cached[612]: entering bypass mode, 0 of 48 shards writable
Nov 03 22:15:31 edge-4 monitor[77]: alert DISK_RO sent to pager (attempt 1 of 3)
Nov 03 22:15:33 edge-4 monitor[77]: pager acknowledged DISK_RO by okafor
Nov 03 22:41:09 edge-4 systemd[1]: Rebooting.
Nov 03 22:43:40 edge-4 kernel: EXT4-fs (nvme0n1p2): recovery complete
Nov 03 22:43:55 edge-4 cached[612]: 48 of 48 shards writable, leaving bypass mode`,
    cases: [
      {
        faithful: `On edge-4 the disk nvme0n1 reported an I/O error at 22:14:51, and ext4 remounted nvme0n1p2 read-only. The cache daemon could no longer write to /var/cache/objects/7f and went into bypass mode with none of its 48 shards writable. The DISK_RO alert was acknowledged by okafor. After a reboot at 22:41 the filesystem recovered and all 48 shards were writable again at 22:43:55.`,
        damaged: [
          ["number changed", "48 shards were writable", "46 shards were writable"],
          ["time of something else", "a reboot at 22:41", "a reboot at 22:15"],
          ["negation lost", "could no longer write", "could write"],
          ["name of something else", "remounted nvme0n1p2 read-only", "remounted edge-4 read-only"],
        ],
      },
      {
        faithful: `edge-4: disk error -> filesystem read-only -> cached in bypass mode (0/48 shards). okafor acknowledged DISK_RO on the first attempt of 3; reboot 22:41:09; back to 48/48 shards.`,
        damaged: [
          ["number changed", "attempt of 3", "attempt of 5"],
          ["name changed", "DISK_RO", "DISK_RW"],
          ["constraint lost", "filesystem read-only", "filesystem writable"],
        ],
      },
    ],
  },
  {
    text: `Review of the change "stream uploads instead of buffering them":
1. src/upload/pipe.ts: the timeout is reset on every chunk. A slow client that sends one byte every 9 seconds never runs into the 10 second limit. Please use a total deadline.
2. src/upload/pipe.ts line 64 swallows the error of the destroy call. I would log it; not a blocker.
3. The new option maxParts defaults to 10000. S3 allows exactly that, so fine, but the docs still say 1000.
4. There is no test for an aborted request. This one I want before the merge.
5. Nice: memory stays below 40 MB for a 2 GB file, before it was 2.1 GB.
Verdict: changes requested for 1 and 4. The rest can follow later.`,
    cases: [
      {
        faithful: `The reviewer requests changes: uploads need a total deadline, because resetting the timeout on each chunk lets slow clients avoid the 10 second limit, and an aborted request must be tested before merging. Not blocking: the swallowed destroy error in src/upload/pipe.ts line 64 and the docs, which still say 1000 although maxParts defaults to 10000. Memory use for a 2 GB file fell from 2.1 GB to under 40 MB.`,
        damaged: [
          ["numbers exchanged", "from 2.1 GB to under 40 MB", "from 40 MB to under 2.1 GB"],
          [
            "numbers exchanged",
            "still say 1000 although maxParts defaults to 10000",
            "still say 10000 although maxParts defaults to 1000",
          ],
          ["negation lost", "Not blocking:", "Blocking:"],
          ["unit changed", "10 second limit", "10 minute limit"],
        ],
      },
      {
        faithful: `Changes requested for points 1 (total deadline instead of a timeout per chunk) and 4 (test for an aborted request, needed before the merge). Logging the destroy error and correcting the docs for maxParts may follow later. The reviewer likes that a 2 GB file takes less than 40 MB of memory now.`,
        damaged: [
          ["number changed", "points 1 (total", "points 3 (total"],
          ["constraint changed", "needed before the merge", "needed after the merge"],
          ["bound turned", "less than 40 MB", "more than 40 MB"],
        ],
      },
    ],
  },
  {
    text: `Decision record 31: queue for the image pipeline. Status: accepted on 12 June.
We compared RabbitMQ, SQS and a table in PostgreSQL. RabbitMQ handled 9,400 messages per second in our test, the table 1,150. We \
expect 200 at peak. Running RabbitMQ would cost about two days of work per quarter, SQS ties us to one cloud, which the customer \
in Graz has ruled out. So we use a table with SKIP LOCKED. Jobs must be idempotent, because a worker that dies after 60 seconds \
without a heartbeat loses its job to another one. Payloads larger than 64 KB go to object storage; the row only has the key. If \
the peak ever goes above 800 messages per second we will look at RabbitMQ again. Never delete rows by hand: the archiver moves them after 14 days.`,
    cases: [
      {
        faithful: `The image pipeline gets its queue as a PostgreSQL table with SKIP LOCKED. It managed 1,150 messages per second \
against 9,400 with RabbitMQ, which is plenty for an expected peak of 200. RabbitMQ was rejected for its upkeep (around two days \
each quarter), SQS because the customer in Graz does not accept being tied to one cloud. Jobs have to be idempotent: without a \
heartbeat for 60 seconds a worker loses its job. Payloads over 64 KB are kept in object storage. Rows must not be deleted \
manually, since the archiver moves them after 14 days. RabbitMQ is reconsidered above 800 messages per second.`,
        damaged: [
          [
            "numbers exchanged",
            "1,150 messages per second against 9,400",
            "9,400 messages per second against 1,150",
          ],
          ["negation lost", "must not be deleted manually", "must be deleted manually"],
          ["number of something else", "expected peak of 200", "expected peak of 800"],
          ["name of something else", "RabbitMQ is reconsidered", "SQS is reconsidered"],
        ],
      },
      {
        faithful: `Accepted 12 June: table queue in PostgreSQL, not RabbitMQ or SQS.
- jobs must be idempotent (60 s heartbeat)
- payloads above 64 KB in object storage
- never delete rows by hand, archiver runs after 14 days
- revisit RabbitMQ when the peak exceeds 800/s`,
        damaged: [
          ["constraint lost", "- never delete rows by hand, archiver", "- archiver"],
          ["unit changed", "64 KB", "64 MB"],
          ["number of something else", "after 14 days", "after 60 days"],
        ],
      },
    ],
  },
  {
    text: `Lab rules for the shared GPU machine
- Book a slot in the calendar before you start a job. Jobs without a booking are killed.
- At most 2 GPUs per person on weekdays; at weekends all 8 may be used.
- Datasets belong in /data/shared and are read-only. Do not copy them to your home: the quota is 50 GB.
- Use the container image lab/torch:2.3 unless your supervisor agrees to another one.
- Only Mirela and Jonas have root. Driver updates happen on the first Monday of a month between 07:00 and 08:00, and the machine is not available then.
- Checkpoints older than 30 days are deleted from /scratch without a warning.`,
    cases: [
      {
        faithful: `A calendar slot has to be booked first, otherwise the job is killed. On weekdays nobody gets more than 2 GPUs; at the weekend up to 8 are fine. Leave datasets in /data/shared rather than copying them into your home (quota 50 GB). lab/torch:2.3 is the image to use unless a supervisor approves something else. Root access is limited to Mirela and Jonas. The machine is down on each month's first Monday, 07:00 to 08:00, for driver updates. /scratch loses checkpoints after 30 days.`,
        damaged: [
          ["negation lost", "nobody gets more than 2 GPUs", "everybody gets more than 2 GPUs"],
          [
            "numbers exchanged",
            "more than 2 GPUs; at the weekend up to 8",
            "more than 8 GPUs; at the weekend up to 2",
          ],
          ["name of something else", "/scratch loses checkpoints", "/data/shared loses checkpoints"],
          ["constraint changed", "unless a supervisor", "even if no supervisor"],
        ],
      },
      {
        faithful: `Rules: book before starting; max. 2 GPUs on weekdays, 8 at weekends; never copy datasets out of /data/shared to your home; image lab/torch:2.3 unless agreed otherwise; root only for Mirela and Jonas; checkpoints in /scratch are removed after 30 days.`,
        damaged: [
          ["constraint changed", "root only for Mirela and Jonas", "root also for Mirela and Jonas"],
          ["negation lost", "never copy datasets", "copy datasets"],
          ["number of something else", "after 30 days", "after 50 days"],
        ],
      },
    ],
  },
  {
    text: `Minutes, mobile weekly. Present: Ada, Bram, Chidi. Absent: Dora.
Crash rate of 5.12.0 is 0.8 percent on Android and 0.2 percent on iOS. Nearly all Android crashes come from the map screen on \
devices with 2 GB of memory. Bram found that tiles are not released when the screen rotates; his fix is in branch map-tiles and \
cuts the crash rate in the beta to 0.3 percent. We ship it as 5.12.1 on Thursday. Chidi wants to raise the minimum Android \
version to 9, which would drop 1.4 percent of our users; we did not decide this, Dora has to agree. The onboarding experiment \
ended: variant B brought 6 percent more registrations, variant A none. B goes live for everybody. The login rewrite is postponed until the security audit is finished. Ada will tell support.`,
    cases: [
      {
        faithful: `5.12.0 crashes in 0.8 percent of Android sessions (iOS: 0.2), mostly on the map screen of 2 GB devices, because tiles stay in memory after a rotation. Bram's fix (branch map-tiles) brought the beta down to 0.3 percent and ships on Thursday in 5.12.1. Whether Android 9 becomes the minimum is undecided until Dora agrees; it would cost 1.4 percent of users. Onboarding variant B (+6 percent registrations) is rolled out to everyone. The login rewrite waits for the end of the security audit.`,
        damaged: [
          [
            "numbers exchanged",
            "0.8 percent of Android sessions (iOS: 0.2)",
            "0.2 percent of Android sessions (iOS: 0.8)",
          ],
          ["negation lost", "is undecided until Dora agrees", "was decided"],
          ["name of something else", "Onboarding variant B", "Onboarding variant A"],
          ["version of something else", "on Thursday in 5.12.1", "on Thursday in 5.12.0"],
        ],
      },
      {
        faithful: `Decisions: ship 5.12.1 with the map fix on Thursday; variant B of the onboarding for all users; login rewrite only after the security audit. Open: minimum Android version 9 (needs Dora, who was absent). Ada informs support.`,
        damaged: [
          ["constraint changed", "only after the security audit", "only before the security audit"],
          ["name changed", "variant B", "variant C"],
          ["number of something else", "minimum Android version 9", "minimum Android version 6"],
        ],
      },
    ],
  },
  {
    text: `station,depth_m,temp_c,salinity,oxygen_mg_l,flag
NB-01,5,14.2,34.1,8.6,ok
NB-01,40,9.8,34.9,6.1,ok
NB-02,5,14.9,33.8,8.4,ok
NB-02,40,9.1,35.0,2.2,low_oxygen
NB-03,5,15.3,33.5,8.8,ok
NB-03,40,,35.1,5.7,sensor_error`,
    cases: [
      {
        faithful: `Three stations (NB-01 to NB-03) were measured at depths of 5 and 40 m. Surface water was 14.2 to 15.3 degrees warm. NB-02 is flagged low_oxygen at 40 m with 2.2 mg/l, and NB-03 has no temperature at 40 m because of a sensor_error.`,
        damaged: [
          ["number of something else", "with 2.2 mg/l", "with 6.1 mg/l"],
          ["names exchanged", "NB-02 is flagged low_oxygen", "NB-01 is flagged low_oxygen"],
          ["negation lost", "has no temperature", "has a temperature"],
        ],
      },
      {
        faithful: `Oxygen at 40 m: 6.1 (NB-01), 2.2 (NB-02, low_oxygen) and 5.7 (NB-03). The temperature of NB-03 at that depth is missing. All readings at 5 m are ok.`,
        damaged: [
          ["numbers exchanged", "6.1 (NB-01), 2.2 (NB-02", "2.2 (NB-01), 6.1 (NB-02"],
          ["number of something else", "5.7 (NB-03)", "8.8 (NB-03)"],
        ],
      },
    ],
  },
  {
    text: `diff --git a/lib/session.rb b/lib/session.rb
--- a/lib/session.rb
+++ b/lib/session.rb
@@ -18,9 +18,11 @@ class Session
-  TTL = 3600
+  TTL = 900
   COOKIE = "sid"
 
   def touch(now)
-    @expires = now + TTL
+    return if revoked?
+    @expires = [now + TTL, @started + MAX_AGE].min
   end
diff --git a/config/routes.rb b/config/routes.rb
@@ -4,3 +4,4 @@
   post "/login", to: "sessions#create"
+  delete "/login", to: "sessions#destroy"
-  get "/debug/session", to: "debug#show"
diff --git a/spec/session_spec.rb b/spec/session_spec.rb
@@ -40,0 +41,6 @@
+  it "does not extend a revoked session" do`,
    cases: [
      {
        faithful: `Session lifetime in lib/session.rb drops from 3600 to 900 and is capped by MAX_AGE; touch does nothing for a revoked session. config/routes.rb gains DELETE /login (sessions#destroy) and loses /debug/session. A spec for revoked sessions was added to spec/session_spec.rb.`,
        damaged: [
          ["numbers exchanged", "from 3600 to 900", "from 900 to 3600"],
          [
            "names exchanged",
            "gains DELETE /login (sessions#destroy) and loses /debug/session",
            "gains /debug/session and loses DELETE /login (sessions#destroy)",
          ],
          ["path changed", "config/routes.rb", "config/router.rb"],
        ],
      },
      {
        faithful: `TTL is now 900 instead of 3600, and a session can't outlive @started + MAX_AGE. Revoked sessions are not extended any more. The route "/debug/session" is gone; logging out is a delete on "/login".`,
        damaged: [
          ["numbers exchanged", "900 instead of 3600", "3600 instead of 900"],
          ["negation lost", "are not extended any more", "are extended"],
          ["name of something else", `The route "/debug/session" is gone`, `The route "/login" is gone`],
        ],
      },
    ],
  },
  {
    text: `I looked into why the nightly export is slow. Three things came up. First, export.sql joins customers twice; removing \
the second join saves 11 of the 47 minutes. Second, the job runs with work_mem=4MB and spills to disk, I saw 18 GB of temporary \
files. With 64MB nothing is spilled and it takes 21 minutes. Third, and I did not expect this, the compression step uses one core \
only: gzip needs 9 minutes, pigz with 4 threads needs 2.5. I have changed the query and the compression in scripts/export.sh, but \
not work_mem, because that needs a restart and must be done by the database team. The file format is unchanged, so the partner \
should not notice anything. I could not test the upload: the credentials in vault path export/partner are expired.`,
    cases: [
      {
        faithful: `The nightly export (47 minutes) was slow for three reasons: a duplicate join on customers in export.sql (costs 11 minutes), work_mem=4MB causing 18 GB of temporary files, and single-core compression (gzip 9 minutes, pigz on 4 threads 2.5). Query and compression are fixed in scripts/export.sh; work_mem was left alone, since only the database team can do the restart. The upload is untested because the credentials at export/partner have expired. The format stays the same.`,
        damaged: [
          [
            "numbers exchanged",
            "gzip 9 minutes, pigz on 4 threads 2.5",
            "gzip 2.5 minutes, pigz on 4 threads 9",
          ],
          ["negation lost", "The upload is untested because", "The upload is tested although"],
          ["unit changed", "18 GB", "18 MB"],
          ["path changed", "export/partner", "export/customer"],
        ],
      },
      {
        faithful: `Done in scripts/export.sh: second join removed, pigz instead of gzip (2.5 minutes instead of 9). Not done: work_mem, which the database team must change with a restart; at 64MB nothing spills any more and the export takes 21 minutes. Upload not tested, credentials expired.`,
        damaged: [
          ["numbers exchanged", "2.5 minutes instead of 9", "9 minutes instead of 2.5"],
          ["negation lost", "Upload not tested", "Upload tested"],
          ["constraint changed", "must change", "may change"],
          ["number of something else", "at 64MB nothing spills", "at 4MB nothing spills"],
        ],
      },
    ],
  },
  {
    text: `# Releasing the desktop app
The version in package.json and in installer.iss must be the same; scripts/bump.mjs sets both. Build on Windows 11 with Node 22. Sign with the hardware token in the safe: it locks itself after 5 wrong PINs. Never put the token's PIN into a script. Upload the installer to the staging feed first and wait at least 24 hours. If more than 3 crash reports come in, stop and ask Yusuf. Otherwise promote it with feedctl promote --channel stable. The stable feed reaches 38,000 machines within 6 hours, so there is no way back. Old installers are kept for 12 months. Do not release in the week before Christmas.`,
    cases: [
      {
        faithful: `Keep package.json and installer.iss at the same version with scripts/bump.mjs. Builds are made on Windows 11 using Node 22 and signed with the hardware token from the safe (5 wrong PINs lock it; its PIN must never appear in a script). The installer goes to staging for at least 24 hours. With over 3 crash reports, ask Yusuf; if not, run feedctl promote --channel stable, which cannot be undone because 38,000 machines are updated within 6 hours. No release during the week before Christmas.`,
        damaged: [
          ["bound turned", "at least 24 hours", "at most 24 hours"],
          ["negation lost", "must never appear in a script", "must appear in a script"],
          ["negation lost", "No release during", "Release during"],
          ["numbers exchanged", "Windows 11 using Node 22", "Windows 22 using Node 11"],
        ],
      },
      {
        faithful: `Release steps: bump (scripts/bump.mjs), build, sign, stage for 24 hours or longer, promote. More than 3 crash reports mean stop. The PIN stays out of scripts, package.json and installer.iss must match, and the week before Christmas is off limits.`,
        damaged: [
          ["number changed", "24 hours or longer", "2 hours or longer"],
          ["bound turned", "More than 3 crash reports", "Fewer than 3 crash reports"],
          ["name lost", "package.json and installer.iss must match", "and installer.iss must match"],
        ],
      },
    ],
  },
];
