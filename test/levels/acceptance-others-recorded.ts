import type { OtherRecorded } from "./acceptance-others.ts";

/** Of recorded sessions, which lie beside the repository. Every second one is of the tuned half. */
export const othersRecorded: readonly OtherRecorded[] = [
  {
    session: "cc-entire-cli-01",
    starts:
      "[test] $ go test ./...\n?   \tentire.io/cli/cmd/entire\t[no test files]\nok  \tentire.io/cli/cmd/entire/cli\t4.286s",
    cases: [
      {
        faithful: `go test ./... is green for every package; cmd/entire and jsonutil have no test files. The slowest package was cmd/entire/cli/strategy with 8.922s.`,
        damaged: [
          ["number changed", "8.922s", "9.822s"],
          ["negation lost", "have no test files", "have test files"],
          ["path changed", "cmd/entire/cli/strategy", "cmd/entire/cli/session"],
        ],
      },
      {
        faithful: `All packages passed (cli 4.286s, checkpoint 2.605s, strategy 8.922s, sessionid 0.969s). No tests exist for jsonutil.`,
        damaged: [
          ["outcome turned", "All packages passed", "All packages failed"],
          [
            "number of something else",
            "checkpoint 2.605s, strategy 8.922s",
            "checkpoint 8.922s, strategy 2.605s",
          ],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-03",
    starts: "Exit code 1\n[lint:go] $ ~/Repositories/cli/mise-tasks/lint/go\n[lint:shellcheck]",
    cases: [
      {
        faithful: `Lint failed with exit code 1: errcheck found 2 unchecked error return values in cmd/entire/cli/hooks_claudecode_handlers.go, at 826:3 and 832:3 (both outputHookMessage calls). gofmt, gomod and shellcheck finished.`,
        damaged: [
          ["number changed", "826:3", "862:3"],
          ["path changed", "hooks_claudecode_handlers.go", "hooks_geminicli_handlers.go"],
          ["outcome turned", "Lint failed", "Lint passed"],
        ],
      },
      {
        faithful: `[lint:go] reports two errcheck issues, lines 826 and 832 of hooks_claudecode_handlers.go: the error returned by outputHookMessage is not checked. The other linters had nothing to report; total 3.03s.`,
        damaged: [
          ["negation lost", "is not checked", "is checked"],
          ["number changed", "3.03s", "3.30s"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-03",
    starts:
      "On branch dipree/entire-wingman\nYour branch is ahead of 'origin/dipree/entire-wingman' by 2 commits.",
    cases: [
      {
        faithful: `The branch dipree/entire-wingman is 2 commits ahead of origin. Seven files are modified but unstaged, among them cmd/entire/cli/wingman_review.go and docs/architecture/wingman.md; .entire/wingman-state.json is untracked. Nothing has been added to the next commit.`,
        damaged: [
          ["number changed", "2 commits ahead", "3 commits ahead"],
          ["path changed", "docs/architecture/wingman.md", "docs/architecture/wingmen.md"],
          ["negation lost", "is untracked", "is tracked"],
        ],
      },
      {
        faithful: `Not staged: .entire/settings.json, hooks.go, hooks_claudecode_handlers.go, wingman_review.go, wingman_spawn_unix.go, wingman_test.go and wingman.md. Untracked: .entire/wingman-state.json. Ahead of origin by two commits.`,
        damaged: [
          ["name changed", "wingman_spawn_unix.go", "wingman_spawn_windows.go"],
          ["negation lost", "Not staged", "Staged"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-03",
    starts: "Checks still failing on the PR",
    cases: [
      {
        faithful: `CI is still red: golangci-lint 2.8.0 found 5 ireturn issues. NewAutoCommitStrategy (auto_commit.go:87), NewManualCommitStrategy (manual_commit.go:61), NewShadowStrategy (manual_commit.go:69), Get (registry.go:27) and Default (registry.go:64) return the interface strategy.Strategy.`,
        damaged: [
          ["number changed", "5 ireturn", "6 ireturn"],
          [
            "number of something else",
            "Get (registry.go:27) and Default (registry.go:64)",
            "Get (registry.go:64) and Default (registry.go:27)",
          ],
          ["path changed", "(auto_commit.go:87)", "(manual_commit.go:87)"],
        ],
      },
      {
        faithful: `The PR checks fail on the ireturn linter, five times, all in cmd/entire/cli/strategy: functions there return an interface (Strategy). The run took 7564 ms.`,
        damaged: [
          ["number changed", "7564 ms", "7654 ms"],
          ["path changed", "cmd/entire/cli/strategy", "cmd/entire/cli/checkpoint"],
          ["outcome turned", "checks fail", "checks pass"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-05",
    starts: "Exit code 1\n# github.com/entireio/cli/cmd/entire/cli/e2e_test",
    cases: [
      {
        faithful: `The e2e_test package does not compile: testenv.go uses defaultAgent (lines 40 and 76) and getTestBinary (lines 83, 241, 283, 340, 388 and 510), neither of which is defined.`,
        damaged: [
          ["negation lost", "does not compile", "compiles"],
          ["number changed", "388", "398"],
          ["name changed", "getTestBinary", "getTestRunner"],
        ],
      },
      {
        faithful: `Build error in cmd/entire/cli/e2e_test/testenv.go: undefined defaultAgent (2 uses) and undefined getTestBinary (6 uses). Exit code 1.`,
        damaged: [
          ["number changed", "Exit code 1", "Exit code 0"],
          ["negation lost", "undefined getTestBinary", "defined getTestBinary"],
          ["path changed", "e2e_test/testenv.go", "e2e_test/helpers.go"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-05",
    starts: "I have written the review to `",
    cases: [
      {
        faithful: `The review is in docs/requirements/e2e-tests/review-02.md. Critical: the content-aware overlap test never fails whether or not the feature works (scenario_checkpoint_workflows_test.go:468-473), and assert.False at lines 53-54 doesn't support format specifiers, so assert.Falsef or require.Falsef is needed. Important: GitCommitWithShadowHooks still builds its environment by hand, scenario 7 does not use real partial staging, FilesTouched is not verified in scenario 5, and the checkpoint ID names in scenario 4 are confusing.`,
        damaged: [
          ["negation lost", "never fails", "fails"],
          ["number of something else", "not verified in scenario 5", "not verified in scenario 7"],
          ["number changed", "review-02.md", "review-03.md"],
          ["negation lost", "does not use real partial staging", "uses real partial staging"],
        ],
      },
      {
        faithful: `Two critical findings: a test that logs but does not assert (content-aware overlap), and assert.False used with a format string. GetLatestCheckpointIDFromHistory now returns (string, error), which was a point of the previous review; environment inconsistency, code duplication and the Gemini placeholder are still outstanding.`,
        damaged: [
          ["negation lost", "does not assert", "does assert"],
          ["name changed", "GetLatestCheckpointIDFromHistory", "GetLatestCheckpointFromHistory"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-06",
    starts:
      "diff --git a/cmd/entire/cli/agent/geminicli/hooks.go b/cmd/entire/cli/agent/geminicli/hooks.go\nindex faac9d83",
    cases: [
      {
        faithful: `In cmd/entire/cli/agent/geminicli/hooks.go the localDev mode now runs .gemini/scripts/entire-wrapper.sh instead of "go run"; the wrapper checks ENTIRE_LOCAL_DEV. Without localDev the hooks still call "entire hooks gemini". The wrapper's prefix was added to entireHookPrefixes.`,
        damaged: [
          ["path changed", "entire-wrapper.sh", "entire-hooks.sh"],
          ["name changed", "ENTIRE_LOCAL_DEV", "ENTIRE_DEV_MODE"],
          ["negation lost", "Without localDev", "With localDev"],
        ],
      },
      {
        faithful: `Diff of geminicli/hooks.go: InstallHooks installs wrapper script hooks if localDev is true, which use "go run" when ENTIRE_LOCAL_DEV=1 and otherwise "entire" from PATH. Default (localDev=false) is the entire binary directly.`,
        damaged: [
          ["constraint changed", "if localDev is true", "if localDev is false"],
          ["number changed", "ENTIRE_LOCAL_DEV=1", "ENTIRE_LOCAL_DEV=2"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-06",
    starts: "The wrapper script blindly sources the project's .env file while set -euo pipefail is active.",
    cases: [
      {
        faithful: `Problem: the wrapper sources .env under set -euo pipefail. Because of set -u the script exits as soon as .env refers to an undefined variable, which other tools' .env files (Docker Compose, Rails) often do; then all Claude Code hooks fail. Only ENTIRE_LOCAL_DEV is needed.`,
        damaged: [
          ["negation lost", "an undefined variable", "a defined variable"],
          ["name changed", "ENTIRE_LOCAL_DEV", "DATABASE_URL"],
          [
            "constraint changed",
            "Only ENTIRE_LOCAL_DEV is needed",
            "All of them are needed, ENTIRE_LOCAL_DEV too",
          ],
        ],
      },
      {
        faithful: `Sourcing the whole .env with nounset active can make every Claude Code hook fail when it references variables that are not defined in the hook's environment. The script needs nothing but ENTIRE_LOCAL_DEV from it.`,
        damaged: [
          ["negation lost", "that are not defined", "that are defined"],
          ["path lost", "the whole .env with", "the whole with"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-07",
    starts:
      "Implement the following plan:\n\n# Fix: Persist transcript_path in checkpoint metadata for restore",
    cases: [
      {
        faithful: `Plan: store transcript_path in the checkpoint metadata so that restore can read it back, since GetSessionDir() and ResolveSessionFile() cannot rebuild the right path for Gemini sessions. CommittedMetadata gets TranscriptPath, WriteCommittedOptions gets SessionTranscriptPath (home-relative), writeSessionToSubdirectory() and CondenseSession() pass it on. homeRelativePath in strategy/common.go strips $HOME/ and returns "" for paths outside of home. RestoreLogsOnly() and classifySessionsForRestore() use it when it isn't empty and otherwise fall back to ResolveSessionFilePath().`,
        damaged: [
          ["negation lost", "cannot rebuild", "can rebuild"],
          ["path changed", "strategy/common.go", "strategy/paths.go"],
          [
            "name changed",
            "CommittedMetadata gets TranscriptPath, WriteCommittedOptions gets SessionTranscriptPath",
            "CommittedMetadata gets SessionTranscriptPath, WriteCommittedOptions gets TranscriptPath",
          ],
          ["negation lost", "when it isn't empty", "when it is empty"],
        ],
      },
      {
        faithful: `Five files change: checkpoint/checkpoint.go (new fields), checkpoint/committed.go, strategy/manual_commit_condensation.go, strategy/common.go (homeRelativePath) and strategy/manual_commit_rewind.go. Restore uses the persisted TranscriptPath if there is one, with ResolveSessionFilePath() as fallback. Verify with go build, mise run fmt, mise run lint and go test ./cmd/entire/cli/... -count=1.`,
        damaged: [
          ["path changed", "checkpoint/committed.go", "checkpoint/temporary.go"],
          ["number changed", "-count=1", "-count=5"],
          ["name changed", "ResolveSessionFilePath()", "ResolveSessionDir()"],
        ],
      },
    ],
  },
  {
    session: "codex-git-sync-01",
    starts: "Chunk ID: f63bc3",
    cases: [
      {
        faithful: `Issue 36 by pranavmangal, open: asks for SSH authentication in git-sync, which currently supports only HTTP based auth. An agent made a working implementation that uses the local ssh binary behind a new transport interface; syncing between GitHub and GitLab worked. It is far from mergeable, but the author would clean it up and open a PR if the maintainers are open to it.`,
        damaged: [
          ["number changed", "Issue 36", "Issue 63"],
          ["constraint changed", "supports only HTTP based auth", "supports also HTTP based auth"],
          ["constraint changed", "It is far from mergeable", "It is mergeable"],
        ],
      },
      {
        faithful: `#36 "Add support for SSH authentication": so far git-sync only does HTTP auth. With SSH no individual access tokens have to be set up, since the existing SSH config is read. The prototype was tested manually between GitHub and GitLab and worked as expected. 2 comments.`,
        damaged: [
          ["number changed", "2 comments", "12 comments"],
          ["negation lost", "no individual access tokens have", "individual access tokens have"],
        ],
      },
    ],
  },
  {
    session: "codex-git-sync-01",
    starts: "Chunk ID: b88baa",
    cases: [
      {
        faithful: `The command exited with code 128: ssh could not resolve github.com (-65563), so the remote repository could not be read, four times; finally git complained about the invalid revision range 7227f7483451e1c1745748c25cde35320a968467..HEAD.`,
        damaged: [
          ["number changed", "code 128", "code 127"],
          ["negation lost", "ssh could not resolve", "ssh could resolve"],
          [
            "name changed",
            "7227f7483451e1c1745748c25cde35320a968467",
            "7227f7483451e1c1745748c25cde35320a968476",
          ],
        ],
      },
      {
        faithful: `No network: hostname github.com cannot be resolved, reading from the remote repository failed. Exit code 128.`,
        damaged: [
          ["negation lost", "cannot be resolved", "can be resolved"],
          ["outcome turned", "repository failed", "repository succeeded"],
          ["number lost", "Exit code 128.", "Exit code."],
        ],
      },
    ],
  },
  {
    session: "codex-git-sync-01",
    starts: "Chunk ID: 5d0103",
    cases: [
      {
        faithful: `Two packages fail. internal/strategy/bootstrap does not build (bootstrap_test.go:1549:16, invalid composite literal type gitproto.Conn). In internal/gitproto TestPushPackClosesPackOnSuccess panics because httptest may not listen on a port (bind: operation not permitted). incremental, materialized, replicate and syncer are ok.`,
        damaged: [
          ["number changed", "1549:16", "1594:16"],
          ["negation lost", "does not build", "builds"],
          ["negation lost", "operation not permitted", "operation permitted"],
          ["outcome turned", "replicate and syncer are ok", "replicate and syncer failed"],
        ],
      },
      {
        faithful: `FAIL: gitproto (0.688s, httptest could not listen on a port, push_test.go:107) and strategy/bootstrap (build failed). The packages incremental, materialized, replicate and syncer pass.`,
        damaged: [
          ["number changed", "0.688s", "0.868s"],
          ["path changed", "push_test.go:107", "pull_test.go:107"],
          ["negation lost", "could not listen", "could listen"],
        ],
      },
    ],
  },
  {
    session: "pi-pi-mono-01",
    starts: "Debugger attached.\nDebugger attached.\nsrc/changelog.ts(104,35): error TS1343",
    cases: [
      {
        faithful: `tsc reports 5 errors. TS1343 ('import.meta' is only allowed with a newer --module option) in src/changelog.ts(104,35), src/export-html.ts(10,34) and src/theme/theme.ts(10,46); TS1259 in src/tui/tool-execution.ts(3,8), where strip-ansi needs esModuleInterop; TS2802 in src/tui/tui-renderer.ts(533,45), which needs --downlevelIteration or a target of es2015 or higher.`,
        damaged: [
          ["number changed", "(533,45)", "(353,45)"],
          ["name changed", "TS1259", "TS1295"],
          ["path changed", "src/export-html.ts", "src/export-pdf.ts"],
        ],
      },
      {
        faithful: `The compiler options are too old for src/changelog.ts, src/export-html.ts and src/theme/theme.ts (import.meta, TS1343); in addition tool-execution.ts lacks the esModuleInterop flag and tui-renderer.ts the --downlevelIteration flag.`,
        damaged: [
          ["name changed", "esModuleInterop", "isolatedModules"],
          [
            "name of something else",
            "tool-execution.ts lacks the esModuleInterop flag and tui-renderer.ts the --downlevelIteration flag",
            "tool-execution.ts lacks the --downlevelIteration flag and tui-renderer.ts the esModuleInterop flag",
          ],
        ],
      },
    ],
  },
  {
    session: "tau-airline-01",
    starts: '{"name": {"first_name": "Omar", "last_name": "Davis"}',
    cases: [
      {
        faithful: `Omar Davis (born 1982-10-19, San Diego, CA 92164, omar.davis7857@example.com) is a regular member. Payment methods: gift cards gift_card_3481935 (22) and gift_card_6847880 (31), and the visa cards credit_card_2929732 (ending in 7803) and credit_card_9525117 (ending in 2172). Reservations: JG7FMM, LQ940Q, 2FBBAH, X7BYG1, EQ1G6C, BOH180.`,
        damaged: [
          ["number changed", "7803", "7830"],
          ["name changed", "X7BYG1", "X7BYG7"],
          [
            "number of something else",
            "gift_card_3481935 (22) and gift_card_6847880 (31)",
            "gift_card_3481935 (31) and gift_card_6847880 (22)",
          ],
        ],
      },
      {
        faithful: `Profile of Omar Davis: 2 gift cards with amounts 22 and 31, 2 visa cards, saved passengers Juan Ahmed (1992-11-19) and Anya Thomas (1990-10-11), regular membership, 6 reservations (JG7FMM to BOH180).`,
        damaged: [
          ["number changed", "22 and 31", "22 and 37"],
          [
            "number of something else",
            "Juan Ahmed (1992-11-19) and Anya Thomas (1990-10-11)",
            "Juan Ahmed (1990-10-11) and Anya Thomas (1992-11-19)",
          ],
          ["name changed", "BOH180", "BOH810"],
        ],
      },
    ],
  },
  {
    session: "tau-airline-01",
    starts: '{"reservation_id": "JG7FMM", "user_id": "omar_davis_3817"',
    cases: [
      {
        faithful: `Reservation JG7FMM of omar_davis_3817: one way MCO to CLT in business on 2024-05-21, with HAT028 (MCO-BOS, 1859) and HAT277 (BOS-CLT, 1679). Passengers are Omar Davis and Fatima Patel. 7136 was paid with credit_card_2929732. 3 bags, none of them charged; insured.`,
        damaged: [
          [
            "number of something else",
            "HAT028 (MCO-BOS, 1859) and HAT277 (BOS-CLT, 1679)",
            "HAT028 (MCO-BOS, 1679) and HAT277 (BOS-CLT, 1859)",
          ],
          ["number changed", "7136", "7163"],
          ["name changed", "JG7FMM", "JG7FMN"],
        ],
      },
      {
        faithful: `JG7FMM: business, one way, MCO → BOS → CLT, 2024-05-21, flights HAT028 and HAT277, two passengers, total payment 7136, 3 baggages (0 nonfree), insurance yes.`,
        damaged: [
          ["number changed", "3 baggages", "5 baggages"],
          ["constraint changed", "insurance yes", "insurance no"],
          ["number changed", "2024-05-21", "2024-05-12"],
        ],
      },
    ],
  },
  {
    session: "cc-entire-cli-02",
    starts: "Missing UserAddedPerFile field causes lost per-file tracking",
    cases: [
      {
        faithful: `Bug of medium severity: session.PromptAttribution has no UserAddedPerFile field although strategy.PromptAttribution does, so the map is lost when sessionStateFromStrategy saves the session state. estimateUserSelfModifications then always returns 0, user self-modifications count as agent modifications, and agent lines are under-counted.`,
        damaged: [
          ["negation lost", "has no UserAddedPerFile", "has a UserAddedPerFile"],
          ["number changed", "returns 0", "returns 1"],
          ["constraint changed", "always returns", "sometimes returns"],
        ],
      },
      {
        faithful: `UserAddedPerFile is missing in session.PromptAttribution, which loses the per-file tracking on save (sessionStateFromStrategy). Effect: estimateUserSelfModifications is always 0, too few agent lines and too many agent modifications are counted.`,
        damaged: [
          ["name changed", "session.PromptAttribution", "strategy.PromptAttribution"],
          ["name changed", "estimateUserSelfModifications", "estimateAgentModifications"],
        ],
      },
    ],
  },
];
