import { BlockList, isIP } from "node:net";

/** Link-local addresses, among them those where clouds serve credentials. */
const linkLocal = new BlockList();
linkLocal.addSubnet("169.254.0.0", 16, "ipv4");
linkLocal.addSubnet("fe80::", 10, "ipv6");
linkLocal.addSubnet("::ffff:169.254.0.0", 112, "ipv6");
// Not link-local by number, but served by the host for the same purpose.
linkLocal.addAddress("fd00:ec2::254", "ipv6");
linkLocal.addAddress("100.100.100.200", "ipv4");

/** Takes an address as the system writes it. Any other text is not link-local. */
export function isLinkLocal(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  const version = isIP(bare);
  return version !== 0 && linkLocal.check(bare, version === 4 ? "ipv4" : "ipv6");
}
