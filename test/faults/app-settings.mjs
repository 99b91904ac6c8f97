/** Settings of an Aperture that a fault is to happen to: managed, with one upstream for every protocol. */
export function settingsFor(upstream, dataDir) {
  return {
    host: "127.0.0.1",
    port: 0,
    dataDir,
    mode: "auto",
    managesLogins: false,
    headers: "compact",
    manifest: "text",
    manifestFill: "shown",
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
