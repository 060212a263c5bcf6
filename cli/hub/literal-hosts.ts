/** A host of an address in the text of code. Names have a letter in their last part, so that versions are none. */
const literal = /\bhttps:\/\/((?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z][a-z0-9-]{0,30})(?=["'`/?:#\\$]|$)/g

/** Hosts of pages that comments and error texts of libraries name, and of the publisher's platform, which this one stands for. */
const isMentioned =
  /(?:^|\.)(?:docs|developers?|www|github|npmjs|json-schema|w3|ietf|whatwg|nodejs|mozilla|reactjs|stackoverflow|wikipedia|zod|fb)\.[a-z]+(?:\.[a-z]+)?$|(?:^|\.)botpress\.[a-z]+$/

const maxHosts = 12

/**
 * Returns the hosts of `https` addresses that stand in a bundle as text. They are a hint only: code also computes
 * addresses, and libraries mention many that are never requested.
 */
export function literalHostsIn(code: string): string[] {
  const hosts = new Set<string>()
  for (const [, host] of code.matchAll(literal)) {
    if (!isMentioned.test(host!)) hosts.add(host!)
    if (hosts.size > maxHosts) break
  }
  return [...hosts].slice(0, maxHosts).toSorted()
}
