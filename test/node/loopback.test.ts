import { expect, it } from "vitest";
import { isLoopbackAddress, isLoopbackHost } from "../../src/node/loopback.ts";

// RFC 1122 §3.2.1.3, RFC 4291 §2.5.3 and §2.5.5.2.
it.each([
  ["127.0.0.1", true],
  ["127.255.0.9", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["::FFFF:127.0.0.1", true],
  ["10.0.0.1", false],
  ["192.168.1.127", false],
  ["::", false],
  ["::ffff:10.0.0.1", false],
  ["fe80::1", false],
  ["1127.0.0.1", false],
  ["127.0.0.1.evil.example", false],
  [undefined, false],
])("address %s: %s", (address, expected) => {
  expect(isLoopbackAddress(address)).toBe(expected);
});

// RFC 6761 §6.3 for the names.
it.each([
  ["localhost", true],
  ["localhost:8788", true],
  ["LOCALHOST", true],
  ["api.localhost:80", true],
  ["127.0.0.1:8788", true],
  ["[::1]:8788", true],
  ["evil.example", false],
  ["localhost.evil.example", false],
  ["evillocalhost", false],
  ["127.0.0.1.evil.example:8788", false],
  ["10.0.0.1", false],
  ["[::]:8788", false],
  ["", false],
  [undefined, false],
])("host %s: %s", (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});
