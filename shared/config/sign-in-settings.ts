import type { Infer } from '../schema.ts'
import { incomplete } from './together.ts'

/** The roles of members that claims may give. */
const roles = ['agent', 'viewer', 'developer', 'administrator', 'owner'] as const

/** A role in a workspace that a value of a claim gives. */
export interface RoleOfClaim {
  value: string
  workspaceId: string
  role: (typeof roles)[number]
}

/** The OpenID provider with whose accounts people sign in to the console. */
export interface SignInSettings {
  issuer: string
  clientId: string
  clientSecret: string
  /** How the secret is sent to the provider's token endpoint. */
  clientAuth: 'basic' | 'post'
  scope: string
  /** The name of the provider on the button of the console. */
  name: string
  /** The claim whose values give roles. */
  rolesClaim: string
  roles: RoleOfClaim[]
  /** Whether everybody whom the provider signs in may have an account, also without an invitation or a role. */
  isOpen: boolean
  /** How long a session lasts. */
  sessionMilliseconds: number
}

// Entries are `value=workspace:role`. Values of claims may contain spaces and slashes, as the groups of Keycloak do.
const roleEntry = `[^,=]+=[\\w-]+:(${roles.join('|')})`

export const signInVariables = {
  OIDC_ISSUER: { type: 'string', pattern: String.raw`^(https://|http://(localhost|127\.0\.0\.1)(:|/|$))` },
  OIDC_CLIENT_ID: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
  OIDC_CLIENT_SECRET: { type: 'string', pattern: '^[\\x20-\\x7e]+$' },
  OIDC_CLIENT_AUTH: { type: 'string', enum: ['basic', 'post'], default: 'basic' },
  OIDC_SCOPE: { type: 'string', pattern: '^(.* )?openid( .*)?$', default: 'openid email profile' },
  OIDC_NAME: { type: 'string', minLength: 1, maxLength: 40 },
  OIDC_ROLES_CLAIM: { type: 'string', minLength: 1, default: 'groups' },
  OIDC_ROLES: { type: 'string', pattern: `^(\\s*(${roleEntry})?\\s*(,|$))*$`, default: '' },
  OIDC_SIGN_UP: { type: 'boolean', default: false },
  OIDC_SESSION_HOURS: { type: 'integer', minimum: 1, maximum: 720, default: 12 },
} as const

export const signInRemedies: Record<string, string> = {
  OIDC_ISSUER: 'set it to the issuer of your OpenID provider, for instance https://accounts.google.com',
  OIDC_CLIENT_ID: 'set it to the id of the client that you registered at the provider',
  OIDC_CLIENT_SECRET: 'set it to the secret of the client that you registered at the provider',
  OIDC_CLIENT_AUTH: 'set it to basic, or to post where the provider wants the secret in the body',
  OIDC_SCOPE: 'set it to scopes, openid among them, for instance openid email profile groups',
  OIDC_NAME: 'set it to the name of the provider on the sign-in page, up to 40 characters',
  OIDC_ROLES_CLAIM: 'set it to the name of the claim that has a person’s groups, for instance groups',
  OIDC_ROLES: `set it to a comma-separated list of group=workspace:role; roles are ${roles.join(', ')}`,
  OIDC_SIGN_UP: 'set it to true only where the provider signs in nobody but your own people',
  OIDC_SESSION_HOURS: 'set it to the hours after which people sign in again, 1 to 720',
}

const schema = { type: 'object', required: [], properties: signInVariables } as const

type Given = Partial<Infer<typeof schema>>

/** The settings; absent without a provider. */
export function readSignIn(given: Given): { signIn?: SignInSettings } {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = given
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return {}
  return {
    signIn: {
      issuer,
      clientId,
      clientSecret,
      clientAuth: given.OIDC_CLIENT_AUTH ?? signInVariables.OIDC_CLIENT_AUTH.default,
      scope: given.OIDC_SCOPE ?? signInVariables.OIDC_SCOPE.default,
      // An issuer that is no address is refused with all other problems.
      name: given.OIDC_NAME ?? URL.parse(issuer)?.host ?? issuer,
      rolesClaim: given.OIDC_ROLES_CLAIM ?? signInVariables.OIDC_ROLES_CLAIM.default,
      roles: rolesOf(given.OIDC_ROLES ?? ''),
      isOpen: given.OIDC_SIGN_UP ?? signInVariables.OIDC_SIGN_UP.default,
      sessionMilliseconds: (given.OIDC_SESSION_HOURS ?? signInVariables.OIDC_SESSION_HOURS.default) * 3600 * 1000,
    },
  }
}

/** One sentence when settings that belong together are incomplete. */
export function signInContradictions(given: Given): string[] {
  return incomplete(given, ['OIDC_ISSUER', 'OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET'])
}

function rolesOf(list: string): RoleOfClaim[] {
  return list.split(',').flatMap((entry) => {
    const [value = '', granted = ''] = entry.split('=')
    const [workspaceId = '', role = ''] = granted.trim().split(':')
    return role === '' ? [] : [{ value: value.trim(), workspaceId, role: role as RoleOfClaim['role'] }]
  })
}
