interface Given {
  DATABASE_URL: string
  REDIS_URL?: string
}

/** One sentence for each address of a dependency that leads nowhere. It does not show the address, which may have a password. */
export function addressContradictions(given: Given): string[] {
  const { DATABASE_URL: database, REDIS_URL: redis } = given
  const problems = [problemOf('DATABASE_URL', 'the primary', withHost(database))]
  if (redis !== undefined) problems.push(problemOf('REDIS_URL', 'the server that takes writes', redis))
  return problems.filter((problem) => problem !== undefined)
}

function problemOf(name: string, which: string, address: string): string | undefined {
  const [, hosts = ''] = /^\w+:\/\/(?:[^/?#]*@)?([^/?#]*)/.exec(address) ?? []
  if (hosts.includes(','))
    return `${name} names several hosts: name one that always leads to ${which}, as the address of a provider or a proxy does`
  if (!URL.canParse(address))
    return `${name} is not a valid address: write special characters of user and password, such as # / ? @, as %23 %2F %3F %40`
  return undefined
}

/**
 * Parses the address of a database.
 *
 * @returns the host, which may be the folder of a socket, and the other parts as in the address
 */
export function parseDatabaseUrl(address: string): { host: string; port: string; username: string; pathname: string } {
  const { hostname, port, username, pathname, searchParams } = new URL(withHost(address))
  return { host: searchParams.get('host') ?? hostname, port, username, pathname }
}

/** An address without a host, which `URL` refuses beside a user, leads to a socket of this machine. */
function withHost(address: string): string {
  return address.replace('@/', '@localhost/')
}
