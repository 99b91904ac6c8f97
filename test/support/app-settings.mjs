/**
 * Settings of an Aperture that a test runs: managed, with one upstream for every protocol. Plain JavaScript,
 * because processes that tests start load it too.
 * @param {URL} upstream
 * @param {string} dataDir
 * @returns {import("../../src/config/index.ts").Settings}
 */
export function settingsFor(upstream, dataDir) {
  return {
    host: "127.0.0.1",
    port: 0,
    dataDir,
    mode: "auto",
    managesLogins: false,
    headers: "compact",
    manifest: "text",
    textCommands: "off",
    arrival: "lossless",
    policy: "auto",
    allowedHosts: [],
    upstreams: {
      anthropic: upstream,
      openai: upstream,
      gemini: upstream,
      bedrock: upstream,
      named: new Map(),
    },
    isRemote: false,
  };
}
