/**
 * Ports of protocols other than HTTP, whose servers might execute a request as commands: mail, chat, file servers,
 * remote shells. They are the ports that browsers block (https://fetch.spec.whatwg.org/#port-blocking), and those of
 * databases and caches with text protocols.
 */
const otherProtocols = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 3306, 3659, 4045,
  4190, 5060, 5061, 5432, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
])

/** Whether a port may not be requested even if permissions name it. */
export function isOtherProtocols(port: number): boolean {
  return otherProtocols.has(port)
}
