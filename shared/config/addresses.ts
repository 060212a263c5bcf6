/** Settings with an address of HTTP. */
const webAddresses = [
  'ISOBOT_BASE_URL',
  'OIDC_ISSUER',
  'S3_ENDPOINT',
  'EMBEDDINGS_URL',
  'OPENAI_BASE_URL',
  'ANTHROPIC_BASE_URL',
  'GOOGLE_GENERATIVE_AI_BASE_URL',
  'MODELS_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
] as const

type Given = { DATABASE_URL: string; REDIS_URL?: string } & { [Name in (typeof webAddresses)[number]]?: string }

/** One sentence for each address that leads nowhere. It does not show the address, which may have a password. */
export function addressContradictions(given: Given): string[] {
  const { DATABASE_URL: database, REDIS_URL: redis } = given
  const problems = [problemOf('DATABASE_URL', 'the primary', withHost(database))]
  if (redis !== undefined) {
    problems.push(problemOf('REDIS_URL', 'the server that takes writes', redis) ?? problemOfIndex(redis))
  }
  for (const name of webAddresses) {
    const address = given[name]
    if (address !== undefined && !URL.canParse(address)) {
      problems.push(`${name} is not a valid address: write it as https://host or https://host:port`)
    }
  }
  problems.push(problemOfBase(given.ISOBOT_BASE_URL))
  return problems.filter((problem) => problem !== undefined)
}

/** Redis' client fails without a word about the setting when the path of its address is no number. */
function problemOfIndex(redis: string): string | undefined {
  const { pathname } = new URL(redis)
  if (/^\/?\d*$/.test(pathname)) return undefined
  return 'REDIS_URL has a path that is no number: end it with the index of a database, such as /0, or with the port'
}

/** Other addresses are made by adding a path. */
function problemOfBase(base: string | undefined): string | undefined {
  const { search, hash, username, password } = URL.parse(base ?? '') ?? {}
  if (!search && !hash && !username && !password) return undefined
  return 'ISOBOT_BASE_URL has a query, a fragment or a user: end it with the host, the port or a path'
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
