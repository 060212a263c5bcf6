import type { VendorAnswer, VendorRequest, Vendors } from '../stand-in/stand-in.ts'

/** The identities of the accounts, as the integrations report them. */
export const accounts = { slack: 'T0STANDIN', slackBot: 'U0STANDIN', hubspot: '4711', linear: 'org-stand-in' }

/** The scopes for which clients have asked at the page of consent, by client id. */
const scopes = new Map<string, string>()

/** Services with one account each, as far as install wizards ask them. A request that they do not know throws. */
export function vendors(): Vendors {
  const inboxes = [
    { id: '1', name: 'Sales' },
    { id: '2', name: 'Support' },
  ]
  const channels: { id: string; webhookUrl: string }[] = []
  const hooks: { id: string; url: string }[] = []
  return {
    'slack.com': (request) =>
      route(request, {
        'GET /oauth/v2/authorize': consent,
        'POST /api/oauth.v2.access': () => ({ json: { ok: true, ...slackTokens(request) } }),
        'POST /api/auth.test': () => ({
          json: { ok: true, team_id: accounts.slack, user_id: accounts.slackBot, url: 'https://stand-in.slack.com/' },
        }),
        'POST /api/tooling.tokens.rotate': () => ({ json: { ok: true, token: 'xoxe.1', refresh_token: 'xoxe-2' } }),
        'POST /api/apps.manifest.validate': () => ({ json: { ok: true, errors: [] } }),
        'POST /api/apps.manifest.create': createSlackApp,
      }),
    'app.hubspot.com': (request) => route(request, { 'GET /oauth/authorize': consent }),
    'api.hubapi.com': (request) =>
      route(request, {
        'POST /oauth/v1/token': () => ({ json: { ...tokens(request), token_type: 'bearer' } }),
        'GET /oauth/v1/access-tokens/access': () => ({
          json: {
            token: 'access',
            token_type: 'access',
            user: 'nobody@service.example',
            user_id: 1,
            hub_domain: 'service.example',
            hub_id: Number(accounts.hubspot),
            app_id: 1,
            scopes: ['oauth'],
            expires_in: 1800,
          },
        }),
        'GET /conversations/v3/conversations/inboxes': () => ({ json: { results: inboxes } }),
        'GET /conversations/v3/custom-channels': () => ({ json: { results: channels } }),
        'POST /conversations/v3/custom-channels': () => {
          const { webhookUrl } = JSON.parse(request.body) as { webhookUrl: string }
          channels.push({ id: 'channel', webhookUrl })
          return { json: { id: 'channel' } }
        },
        'DELETE /conversations/v3/custom-channels/channel': () => {
          channels.length = 0
          return { json: {} }
        },
        'GET /conversations/v3/custom-channels/channel/channel-accounts': () => ({ json: { results: [] } }),
        'POST /conversations/v3/custom-channels/channel/channel-accounts': () => ({ json: { id: 'account' } }),
      }),
    'linear.app': (request) => route(request, { 'GET /oauth/authorize': consent }),
    'api.linear.app': (request) =>
      route(request, {
        'POST /oauth/token': () => ({ json: tokens(request) }),
        'POST /oauth/revoke': () => ({ json: {} }),
        'POST /graphql': () => ({ json: { data: linearData(request.body, hooks) } }),
      }),
  }
}

function route(request: VendorRequest, routes: Record<string, (request: VendorRequest) => VendorAnswer>): VendorAnswer {
  const name = `${request.method} ${request.path}`
  const found = routes[name]
  if (!found) throw new Error(name)
  return found(request)
}

/** A page on which a person agrees, or refuses. */
function consent({ query }: VendorRequest): VendorAnswer {
  const [client, back, state] = ['client_id', 'redirect_uri', 'state'].map((name) => query.get(name) ?? '')
  scopes.set(client!, query.get('scope') ?? '')
  const link = (label: string, outcome: Record<string, string>) => {
    const href = `${back}?${new URLSearchParams({ ...outcome, state: state! }).toString()}`
    return `<a href="${href.replaceAll('&', '&amp;')}">${label}</a>`
  }
  const actor = query.get('actor') ?? 'account'
  return {
    page: `<!doctype html><title>Consent</title><h1>Consent of the ${actor}</h1>
      ${link('Allow', { code: `code-of-${client}` })} ${link('Deny', { error: 'access_denied' })}`,
  }
}

/** The tokens for a code of the same client. */
function tokens({ body }: VendorRequest): Record<string, unknown> {
  const form = new URLSearchParams(body)
  const client = form.get('client_id') ?? ''
  if (
    !scopes.has(client) ||
    form.get('code') !== `code-of-${client}` ||
    !form.get('redirect_uri')?.endsWith('/oauth')
  ) {
    throw new Error(`tokens for ${body}`)
  }
  return { access_token: 'access', refresh_token: 'refresh', expires_in: 43_200 }
}

function slackTokens(request: VendorRequest): object {
  const scope = scopes.get(new URLSearchParams(request.body).get('client_id') ?? '') ?? ''
  return { ...tokens(request), scope, bot_user_id: accounts.slackBot, team: { id: accounts.slack, name: 'Stand-in' } }
}

/** An app as its manifest describes it. */
function createSlackApp({ body }: VendorRequest): VendorAnswer {
  const manifest = JSON.parse(new URLSearchParams(body).get('manifest') ?? '') as {
    oauth_config: { scopes: { bot: string[] } }
  }
  const address = new URL('https://slack.com/oauth/v2/authorize?client_id=created')
  address.searchParams.set('scope', manifest.oauth_config.scopes.bot.join(','))
  const credentials = { client_id: 'created', client_secret: 's', signing_secret: 's', verification_token: 'v' }
  return { json: { ok: true, app_id: 'A1', credentials, oauth_authorize_url: address.href } }
}

/** The answer to a query of Linear's API, by the field that it asks for. */
function linearData(body: string, hooks: { id: string; url: string }[]): object {
  const { query, variables } = JSON.parse(body) as { query: string; variables: { input?: { url: string } } }
  if (/\bwebhookCreate\b/.test(query)) {
    hooks.push({ id: `hook-${hooks.length}`, url: variables.input!.url })
    return { webhookCreate: { success: true, lastSyncId: 1, webhook: { id: hooks.at(-1)!.id } } }
  }
  if (/\bwebhookDelete\b/.test(query)) {
    hooks.length = 0
    return { webhookDelete: { success: true, lastSyncId: 1, entityId: 'hook-0' } }
  }
  if (/\bwebhooks\b/.test(query)) {
    const none = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null }
    return { webhooks: { nodes: hooks, pageInfo: none } }
  }
  if (/\borganization\b/.test(query)) {
    return { organization: { id: accounts.linear, name: 'Stand-in', projectStatuses: [], ipRestrictions: [] } }
  }
  if (/\bviewer\b/.test(query)) return { viewer: { id: 'me', name: 'Nobody' } }
  throw new Error(`query ${query.slice(0, 200)}`)
}
