import type * as OpenId from 'openid-client'
import type { SignInSettings } from '#shared/config/sign-in-settings.ts'

/** A person whom the provider has signed in. */
export interface Identity {
  issuer: string
  subject: string
  /** In lower case; absent where the provider has not verified it. */
  email?: string
  name?: string
  /** The values of the claim that gives roles. */
  values: string[]
}

/** The values that a browser's sign-in has to come back with. */
export interface Checks {
  state: string
  nonce: string
  verifier: string
}

export interface Provider {
  /** The address of the provider's page, and the values by which its answer is checked. */
  begin(redirectUri: string): Promise<{ url: string; checks: Checks }>
  /**
   * Exchanges the code in the address that the provider sent the browser to.
   * @throws Error when the provider refused the person, or did not answer as OpenID Connect says
   */
  finish(url: URL, checks: Checks): Promise<Identity>
}

const timeoutSeconds = 10
/** Providers publish new addresses seldom; their keys have a cache of their own. */
const discoveryMilliseconds = 3600 * 1000
const maxValues = 1000
const maxCharacters = 200

/** Speaks OpenID Connect with the operator's provider: code flow, PKCE, state and nonce. */
export function openProvider(settings: SignInSettings): Provider {
  let known: { at: number; configuration: Promise<OpenId.Configuration> } | undefined

  async function discover(client: typeof OpenId): Promise<OpenId.Configuration> {
    const { issuer, clientId, clientSecret, clientAuth } = settings
    const authenticate = clientAuth === 'post' ? client.ClientSecretPost : client.ClientSecretBasic
    const isInsecure = issuer.startsWith('http:')
    return client.discovery(new URL(issuer), clientId, undefined, authenticate(clientSecret), {
      timeout: timeoutSeconds,
      // Settings allow such an address on this machine only.
      ...(isInsecure && { execute: [client.allowInsecureRequests] }),
    })
  }

  async function configurationOf(client: typeof OpenId): Promise<OpenId.Configuration> {
    if (!known || known.at < performance.now() - discoveryMilliseconds) {
      const configuration = discover(client)
      known = { at: performance.now(), configuration }
      configuration.catch(() => (known = undefined))
    }
    return known.configuration
  }

  return {
    async begin(redirectUri) {
      const client = await load()
      const configuration = await configurationOf(client)
      const checks = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      }
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, checks }
    },

    async finish(url, { state, nonce, verifier }) {
      const client = await load()
      const configuration = await configurationOf(client)
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()!
      // Many providers put groups and email addresses here, and not into the ID token.
      const more = configuration.serverMetadata().userinfo_endpoint
        ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : {}
      return toIdentity(settings, { ...claims, ...more, iss: claims.iss, sub: claims.sub })
    },
  }
}

/** Loads the library at the first use, since most processes never use it. */
function load(): Promise<typeof OpenId> {
  return import('openid-client')
}

type Claims = Record<string, unknown> & { iss: string; sub: string }

function toIdentity({ rolesClaim }: SignInSettings, claims: Claims): Identity {
  const { iss: issuer, sub: subject, email, email_verified: isVerified, name } = claims
  const values = [claims[rolesClaim]].flat(1).filter((value) => typeof value === 'string')
  return {
    issuer,
    subject,
    ...(isText(email) && isVerified === true && { email: email.toLowerCase() }),
    ...(isText(name) && { name }),
    values: values.slice(0, maxValues),
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxCharacters
}
