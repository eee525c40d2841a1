/** Addresses of this machine that no other can reach. */

/** @param address of a peer, as sockets have it. */
export function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.\d+\.\d+\.\d+$|^::1$/i.test(address);
}

/** @param host as the Host header has it, with or without a port. A page on the web may own any other name. */
export function isLoopbackHost(host: string | undefined): boolean {
  return host !== undefined && /^(?:(?:[\w-]+\.)*localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?$/i.test(host);
}
