import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'

/** A person at the provider, who signs in with the name as login and any password. */
export interface Person {
  email?: string
  emailVerified?: boolean
  groups?: string[] | string
}

export interface OpenIdProvider extends AsyncDisposable {
  issuer: string
  /** The provider's people, by login. Others are unknown to it, and have no claims. */
  people: Map<string, Person>
  /** The variables of the platform, without the address of the console. */
  environment: NodeJS.ProcessEnv
}

const clientId = 'isobot'
const clientSecret = 'a secret that the provider knows'

/**
 * Starts a certified OpenID provider on this machine, with its own pages for development: a form for login and password.
 *
 * @param redirectUri the address that the platform has registered
 */
export async function openProvider(redirectUri: string): Promise<OpenIdProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const people = new Map<string, Person>()
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    claims: { email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    scopes: ['openid', 'email', 'profile', 'groups'],
    pkce: { required: () => true },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    cookies: { keys: ['a key of the cookies of the provider'] },
    findAccount: (_context, accountId) => {
      const { email, emailVerified = true, groups } = people.get(accountId) ?? {}
      const claims = { sub: accountId, name: `Person ${accountId}`, email, email_verified: emailVerified, groups }
      return { accountId, claims: () => claims }
    },
    // Everybody agrees: the page that asks for it is of no interest here.
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client!.clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope('openid email profile groups')
      await grant.save()
      return grant
    },
  })
  server.on('request', provider.callback())
  return {
    issuer,
    people,
    environment: {
      OIDC_ISSUER: issuer,
      OIDC_CLIENT_ID: clientId,
      OIDC_CLIENT_SECRET: clientSecret,
      OIDC_SCOPE: 'openid email profile groups',
      OIDC_NAME: 'the works',
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The cookies of one browser, by name: none of the servers has two of the same name that matter. */
export class Browser {
  readonly cookies = new Map<string, string>()

  /** Sends a request without following redirects. */
  async send(method: string, url: string, options: { headers?: Record<string, string>; form?: object } = {}) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...options.headers },
      ...(options.form && { body: new URLSearchParams(options.form as Record<string, string>) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const at = pair.indexOf('=')
      if (/expires=thu, 01 jan 1970/i.test(line)) this.cookies.delete(pair.slice(0, at))
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1))
    }
    const location = response.headers.get('location')
    return { response, location: location === null ? undefined : new URL(location, url).href }
  }

  /**
   * Signs in on the provider's pages, from the address that the platform gives.
   * @returns the address with which the provider sends the browser back
   */
  async signIn(url: string, login: string): Promise<string> {
    let next = await this.send('GET', url)
    const page = next.location!
    if (!page.includes('/interaction/')) return page
    next = await this.send('POST', page, { form: { prompt: 'login', login, password: 'any' } })
    next = await this.send('GET', next.location!)
    return next.location!
  }
}
