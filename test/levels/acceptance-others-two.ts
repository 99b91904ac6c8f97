import type { OtherText } from "./acceptance-others.ts";

/** The second part of `othersOwn`, divided like the first. */
export const othersTwo: readonly OtherText[] = [
  {
    text: `Protocol for the freezer samples. Thaw a rack for 25 minutes at room temperature, not in the water bath. Spin the tubes at 3,200 g for 10
minutes. Take 150 µl of the supernatant; leave the pellet. Never refreeze a tube that has been opened. Samples of batch K-19 must not be
used, their labels were mixed up. Record every tube in lims_export.csv before it leaves the room. Gloves are required. If the alarm of
freezer 2 goes off, move the racks to freezer 5, which has 40 free places. The door may stay open for 30 seconds at most.`,
    cases: [
      {
        faithful: `Racks are thawed 25 minutes at room temperature and not in the water bath, then spun for 10 minutes at 3,200 g; 150 µl of supernatant are taken. Opened tubes must never be refrozen. Batch K-19 must not be used because its labels were mixed up. Each tube has to be recorded in lims_export.csv before leaving the room, and gloves must be worn. Freezer door: open for no more than 30 seconds. If freezer 2 sounds an alarm, the racks go to freezer 5.`,
        damaged: [
          ["number changed", "150 µl", "250 µl"],
          ["negation lost", "must never be refrozen", "must be refrozen"],
          ["number of something else", "go to freezer 5", "go to freezer 2"],
          ["constraint changed", "for no more than 30 seconds", "for no less than 30 seconds"],
        ],
      },
      {
        faithful: `Do not use batch K-19 (labels mixed up) and do not refreeze opened tubes. Thawing: 25 min, room temperature, no water bath. Centrifuge: 3200 g, 10 min. Log tubes in lims_export.csv first. Wear gloves. Keep the door open 30 s at most. On an alarm of freezer 2 use freezer 5 (40 free places).`,
        damaged: [
          ["negation lost", "do not refreeze opened tubes", "refreeze opened tubes"],
          ["name changed", "K-19", "K-91"],
          ["constraint lost", "Wear gloves. ", ""],
        ],
      },
    ],
  },
  {
    text: `Minutes, platform group. Present: Mei, Tobias, Ruth. The login outage on Monday lasted 47 minutes and hit 3,100 users. It came from the
rate limiter, which counted requests of the health check. Tobias has excluded /healthz in gateway/limits.go; that is deployed. Mei will
write the post-mortem by Wednesday. Ruth objected to raising the limit from 100 to 400 requests per second, so it stays at 100. We will
not buy the second load balancer this year. From now on nobody deploys to the gateway without a second pair of eyes. Next meeting: 24 March.`,
    cases: [
      {
        faithful: `Monday's login outage (47 minutes, 3,100 users) was caused by the rate limiter counting health check requests; /healthz is now excluded in gateway/limits.go and deployed. The limit remains 100 requests per second after Ruth objected to 400. No second load balancer this year. Gateway deployments require a second pair of eyes. Mei writes the post-mortem by Wednesday.`,
        damaged: [
          ["number changed", "47 minutes", "74 minutes"],
          [
            "number of something else",
            "remains 100 requests per second after Ruth objected to 400",
            "becomes 400 requests per second after Ruth objected to 100",
          ],
          ["negation lost", "No second load balancer", "A second load balancer"],
          ["constraint lost", "Gateway deployments require a second pair of eyes. ", ""],
        ],
      },
      {
        faithful: `The rate limiter took login down for 47 minutes since it also counted the health checks. Tobias fixed that in gateway/limits.go. Decisions: limit not raised (100 per second), second load balancer not bought this year, nobody deploys to the gateway alone without a second pair of eyes. Post-mortem: Mei, Wednesday. Next meeting on 24 March.`,
        damaged: [
          ["negation lost", "limit not raised", "limit raised"],
          ["path changed", "gateway/limits.go", "gateway/health.go"],
          ["number changed", "24 March", "14 March"],
        ],
      },
    ],
  },
  {
    text: `Access policy. Production data may be read by members of the data team only. Exports need a ticket and are deleted after 14 days. It is
forbidden to copy production data to a laptop, even when it is encrypted. Service accounts must rotate their keys every 90 days; the job
rotate-keys does it for those listed in iam/accounts.tf. Break-glass access lasts 60 minutes and is always reviewed on the next working
day. Passwords are at least 14 characters long. Support staff can see names and e-mail addresses, but no payment data.`,
    cases: [
      {
        faithful: `Only the data team may read production data. For exports a ticket is necessary, and they are removed after 14 days. Copying production data onto laptops is forbidden, encrypted or not. Keys of service accounts have to be rotated every 90 days (done by rotate-keys for accounts in iam/accounts.tf). Break-glass access is limited to 60 minutes and always gets reviewed the next working day. Support sees names and e-mail addresses but no payment data.`,
        damaged: [
          ["constraint changed", "Only the data team may read", "The support team may also read"],
          ["number changed", "every 90 days", "every 60 days"],
          ["negation lost", "is forbidden", "is allowed"],
          ["negation lost", "but no payment data", "and payment data"],
        ],
      },
      {
        faithful: `Policy in short: production data is for the data team only, never on a laptop; exports live 14 days and need a ticket; service account keys must be rotated every 90 days; break-glass access: 60 minutes, always reviewed; passwords have a minimum of 14 characters; payment data is not visible to support staff.`,
        damaged: [
          ["negation lost", "never on a laptop", "also on a laptop"],
          ["constraint changed", "a minimum of 14 characters", "a maximum of 14 characters"],
          ["number changed", "60 minutes", "90 minutes"],
        ],
      },
    ],
  },
  {
    text: `Name:             checkout-7d9f6c5b8-qx2lm
Namespace:        shop
Node:             worker-04/10.20.0.14
Status:           Running
Containers:
  app:
    Image:          registry.local/shop/checkout:2.18.0
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
    Ready:          False
    Restart Count:  11
    Limits:
      memory:  256Mi
    Requests:
      memory:  128Mi
Events:
  Warning  BackOff    2m (x41 over 14m)  kubelet  Back-off restarting failed container app
  Warning  Unhealthy  5m (x3 over 6m)    kubelet  Readiness probe failed: HTTP probe failed with statuscode: 503`,
    cases: [
      {
        faithful: `Pod checkout-7d9f6c5b8-qx2lm in namespace shop is in CrashLoopBackOff on worker-04: container app (checkout:2.18.0) was OOMKilled with exit code 137 and has been restarted 11 times. Its memory limit is 256Mi (request 128Mi). The readiness probe failed with status 503.`,
        damaged: [
          [
            "number of something else",
            "memory limit is 256Mi (request 128Mi)",
            "memory limit is 128Mi (request 256Mi)",
          ],
          ["number changed", "exit code 137", "exit code 139"],
          ["name changed", "worker-04", "worker-14"],
          ["outcome turned", "probe failed", "probe passed"],
        ],
      },
      {
        faithful: `The checkout container keeps crashing (11 restarts): out of memory, exit code 137, with a limit of 256Mi. It is not ready; the readiness probe returned 503.`,
        damaged: [
          ["negation lost", "It is not ready", "It is ready"],
          ["number changed", "11 restarts", "41 restarts"],
          ["number lost", "with a limit of 256Mi", "with a limit of"],
        ],
      },
    ],
  },
  {
    text: `| codec | ratio | compress MB/s | decompress MB/s | memory |
|---|---|---|---|---|
| gzip -6 | 3.1 | 62 | 410 | 1 MB |
| zstd -3 | 3.4 | 480 | 1350 | 6 MB |
| zstd -19 | 4.2 | 4 | 1290 | 88 MB |
| lz4 | 2.2 | 790 | 3900 | 1 MB |
| brotli -5 | 3.6 | 110 | 430 | 10 MB |

Measured on 1.2 GB of frames, one core. zstd -3 is what we use from now on. brotli was ruled out because the embedded build does not have
it. lz4 is too large on disk. We do not compress frames below 512 bytes.`,
    cases: [
      {
        faithful: `On 1.2 GB of frames zstd -3 reached a ratio of 3.4 at 480 MB/s (1350 MB/s for decompression) and is the codec from now on. gzip -6 had 3.1 at 62 MB/s; zstd -19 had the best ratio, 4.2, but only 4 MB/s and 88 MB of memory. brotli isn't part of the embedded build, lz4 takes too much disk. Frames smaller than 512 bytes aren't compressed.`,
        damaged: [
          ["number of something else", "a ratio of 3.4 at 480 MB/s", "a ratio of 4.2 at 480 MB/s"],
          ["negation lost", "brotli isn't part", "brotli is part"],
          ["number changed", "512 bytes", "256 bytes"],
          ["negation lost", "aren't compressed", "are compressed"],
        ],
      },
      {
        faithful: `Codec benchmark (1.2 GB, one core): zstd -3 is chosen. Ratios: gzip -6 3.1, zstd -3 3.4, zstd -19 4.2, lz4 2.2, brotli -5 3.6. No compression below 512 bytes. Brotli is out since the embedded build lacks it.`,
        damaged: [
          ["name changed", "zstd -3 is chosen", "zstd -19 is chosen"],
          ["number changed", "lz4 2.2", "lz4 2.8"],
          ["number of something else", "gzip -6 3.1, zstd -3 3.4", "gzip -6 3.4, zstd -3 3.1"],
        ],
      },
    ],
  },
  {
    text: `Release checklist for 5.0. The changelog is written, the migration guide is missing two sections (webhooks and roles). All 1,932 tests
pass on Linux and macOS; on Windows 6 are skipped because symlinks need extra rights there. The bundle grew from 412 KB to 447 KB, the
limit is 450 KB. Node 18 is no longer supported; 20.11 is the minimum. We must not publish before the legal team has confirmed the new
licence text. Do not tag from a laptop: the tag is made by .github/workflows/release.yml. The old API under /v1 keeps working until the
end of the year, and afterwards returns 410.`,
    cases: [
      {
        faithful: `State of release 5.0: changelog done; the migration guide still lacks webhooks and roles. 1,932 tests pass on Linux and macOS, 6 are skipped on Windows. Bundle size is 447 KB (was 412 KB) against a limit of 450 KB. Minimum Node is 20.11 now, 18 was dropped. Publishing must wait for legal to confirm the licence text, and tagging is done by .github/workflows/release.yml, never from a laptop. /v1 works until the end of the year and returns 410 after that.`,
        damaged: [
          ["number of something else", "447 KB (was 412 KB)", "412 KB (was 447 KB)"],
          ["negation lost", "never from a laptop", "or from a laptop"],
          ["number changed", "returns 410", "returns 404"],
          [
            "constraint lost",
            "Publishing must wait for legal to confirm the licence text, and tagging",
            "Tagging",
          ],
        ],
      },
      {
        faithful: `Do not publish 5.0 before the legal team confirms the licence. Tags come from .github/workflows/release.yml and not from a laptop. Tests: 1,932 green on Linux and macOS. Two sections are missing in the migration guide. Node 18 isn't supported any more, at least 20.11 is needed. The bundle (447 KB) is just under its limit of 450 KB.`,
        damaged: [
          ["negation lost", "Do not publish 5.0 before", "Publish 5.0 before"],
          ["negation lost", "isn't supported any more", "is supported"],
          ["number changed", "Two sections", "Four sections"],
        ],
      },
    ],
  },
  {
    text: `def lease(store, key, owner, ttl_s=30):
    """Take a lease on key for owner, or return None if somebody else holds it.

    The clock of the store counts, never that of the caller. A lease can be renewed by its owner only,
    and at most 20 times; after that it has to be released and taken again.
    """
    now = store.now()
    held = store.get(key)
    if held is not None and held.owner != owner and held.until > now:
        return None
    renewals = held.renewals + 1 if held is not None and held.owner == owner else 0
    if renewals > 20:
        raise LeaseWornOut(key)
    return store.put_if(key, Lease(owner, now + ttl_s, renewals), expect=held)`,
    cases: [
      {
        faithful: `lease(store, key, owner) takes a lease for 30 s by default and returns None when another owner still holds it. Time is that of the store, not of the caller. Only the owner can renew, at most 20 times; beyond that LeaseWornOut is raised. Writing uses store.put_if.`,
        damaged: [
          ["number changed", "at most 20 times", "at most 200 times"],
          ["negation lost", "not of the caller", "and of the caller"],
          ["name changed", "LeaseWornOut", "LeaseExpired"],
          ["constraint changed", "Only the owner can renew", "Anybody can renew"],
        ],
      },
      {
        faithful: `The function lease() grants a key to one owner for ttl_s seconds (30 unless given). If someone else holds it: None. The caller's clock is never used. An owner may renew up to 20 times, then LeaseWornOut.`,
        damaged: [
          ["negation lost", "is never used", "is used"],
          ["number changed", "(30 unless given)", "(20 unless given)"],
        ],
      },
    ],
  },
  {
    text: `Some preferences for how you work with me. Answer in German, code and commit messages in English. Keep answers under 200 words unless I
ask for details. Don't apologise. When you change files, show me the diff first and wait for my okay. Never touch anything under
vendor/ or third_party/. I use fish, not bash, so commands must work there. Tests first: a bug fix without a failing test is not
finished. You can install packages with pnpm; npm must not be used here because of the lockfile. My time zone is UTC+2.`,
    cases: [
      {
        faithful: `The user wants answers in German (code and commit messages in English), shorter than 200 words unless details are asked for, without apologies. Diffs must be shown and approved before files are changed. vendor/ and third_party/ are off-limits. Commands have to run in fish, not bash. Bug fixes need a failing test first. Use pnpm, never npm (lockfile).`,
        damaged: [
          ["number changed", "200 words", "300 words"],
          ["path changed", "third_party/", "internal/"],
          ["constraint changed", "Use pnpm, never npm", "Use npm, never pnpm"],
          ["negation lost", "in fish, not bash", "in fish and bash"],
        ],
      },
      {
        faithful: `Preferences: German answers, English code; fewer than 200 words; no apologies; show the diff and wait for approval; never change vendor/ or third_party/; shell is fish; write the failing test before a bug fix; npm must not be used, pnpm is fine; UTC+2.`,
        damaged: [
          ["negation lost", "never change vendor/", "change vendor/"],
          ["negation lost", "npm must not be used", "npm may be used"],
          ["constraint lost", "never change vendor/ or third_party/; ", ""],
        ],
      },
    ],
  },
];
