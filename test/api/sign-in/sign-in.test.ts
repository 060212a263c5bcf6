import { Client } from '@botpress/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertWorkspace } from '#shared/store/accounts.ts'
import { freePort } from '../../../cli/postgres/free-port.ts'
import { launchChromium } from '../../browser/chromium.ts'
import { buildConsole } from '../../console/built.ts'
import { installing } from '../../console/open-console.ts'
import { followInbox } from '../../support/follow-inbox.ts'
import { createMember, invite } from '../../support/members.ts'
import { Browser, openProvider, type OpenIdProvider } from '../../support/openid-provider.ts'
import { openPlatform, send, type Platform } from '../../support/platform.ts'

const parts = new AsyncDisposableStack()
let provider: OpenIdProvider
let platform: Platform
const path = '/v1/admin/session'
const workspaceId = 'wkspace_of_the_works'
const other = 'wkspace_of_others'
beforeAll(async () => {
  const port = await freePort()
  provider = parts.use(await openProvider(`http://localhost:${port}${path}/callback`))
  platform = parts.use(
    await openPlatform({
      backEnd: 'postgres',
      worker: false,
      environment: {
        ...provider.environment,
        PORT: String(port),
        OIDC_ROLES: `Staff=${workspaceId}:agent, /team/build=${workspaceId}:developer,Owners=${workspaceId}:owner,Staff=${other}:viewer,Elsewhere=wkspace_that_is_gone:owner`,
      },
    }),
  )
  for (const id of [workspaceId, other]) await insertWorkspace(platform.context.db, { id, name: id })
})
afterAll(() => parts.disposeAsync())

const own = () => ({ origin: platform.url, 'sec-fetch-site': 'same-origin' })

/** Signs a person in, and returns the browser and where it ends. */
async function signIn(login: string, { browser = new Browser(), invitation = '' } = {}) {
  const headers = { ...own(), ...(invitation && { 'x-invitation': invitation }) }
  const { response } = await browser.send('POST', `${platform.url}${path}/sign-in`, { headers })
  expect(response.status).toBe(200)
  const { url } = (await response.json()) as { url: string }
  const back = await browser.signIn(url, login)
  const { location } = await browser.send('GET', back)
  return { browser, back, end: new URL(location!).hash }
}

async function tokenOf(browser: Browser, headers: Record<string, string> = own()) {
  const { response } = await browser.send('POST', `${platform.url}${path}/token`, { headers })
  return { status: response.status, body: (await response.json()) as { token: string } }
}

/** The account of a browser's session, by a token for it. */
async function accountOf(browser: Browser) {
  const { body } = await tokenOf(browser)
  const authorization = `Bearer ${body.token}`
  const me = await send('GET', `${platform.url}/v1/admin/account/me`, undefined, { authorization })
  expect(me.status).toBe(200)
  return { authorization, account: me.body.account as { id: string; displayName: string; email: string } }
}

const rolesOf = (accountId: string) =>
  platform.context.db('members').where({ account_id: accountId }).orderBy('workspace_id').select('workspace_id', 'role')

describe('a sign-in with an OpenID provider', () => {
  test('gives a person with claims an account, its roles, and tokens that every interface takes', async () => {
    provider.people.set('ann', { email: 'Ann@example.com', groups: ['Staff', '/team/build', 'of no interest'] })
    const { browser, end } = await signIn('ann')
    expect(end).toBe('#signed-in')
    const { authorization, account } = await accountOf(browser)
    expect(account).toMatchObject({ displayName: 'Person ann', email: 'ann@example.com' })
    expect(await rolesOf(account.id)).toEqual([
      { workspace_id: other, role: 'viewer' },
      { workspace_id: workspaceId, role: 'developer' },
    ])
    const headers = { authorization, 'x-workspace-id': workspaceId }
    const created = await send('POST', `${platform.url}/v1/admin/bots`, { name: 'ours' }, headers)
    expect(created.status).toBe(200)
    const files = await send('GET', `${platform.url}/v1/files`, undefined, {
      authorization,
      'x-bot-id': created.body.bot.id,
    })
    expect(files).toMatchObject({ status: 200, body: { files: [] } })
    // The second sign-in finds the account.
    expect((await accountOf((await signIn('ann')).browser)).account.id).toBe(account.id)
  })

  test('gives the roles of the present claims, and takes the others away, with a record of each change', async () => {
    provider.people.set('bea', { groups: 'Staff' })
    const { account } = await accountOf((await signIn('bea')).browser)
    expect(await rolesOf(account.id)).toMatchObject([{ role: 'viewer' }, { role: 'agent' }])
    provider.people.set('bea', { groups: ['/team/build'] })
    await signIn('bea')
    expect(await rolesOf(account.id)).toEqual([{ workspace_id: workspaceId, role: 'developer' }])
    const records = platform.context.db('audit_records').where({ account_id: account.id }).orderBy('id')
    expect(await records.select('workspace_id', 'operation', 'outcome')).toEqual([
      { workspace_id: other, operation: 'createWorkspaceMember', outcome: 'done' },
      { workspace_id: workspaceId, operation: 'createWorkspaceMember', outcome: 'done' },
      { workspace_id: other, operation: 'deleteWorkspaceMember', outcome: 'done' },
      { workspace_id: workspaceId, operation: 'updateWorkspaceMember', outcome: 'done' },
    ])
    provider.people.set('bea', {})
    expect((await signIn('bea')).end).toBe('#no-account')
    expect(await rolesOf(account.id)).toEqual([])
  })

  test('keeps the roles that members have given, and the only owner', async () => {
    provider.people.set('cleo', { groups: ['Owners', 'Staff'] })
    const { account } = await accountOf((await signIn('cleo')).browser)
    expect(await rolesOf(account.id)).toMatchObject([{ role: 'viewer' }, { role: 'owner' }])
    await platform.context.db('members').where({ account_id: account.id, workspace_id: other }).update({
      role: 'administrator',
      from_claims: false,
    })
    provider.people.set('cleo', { groups: [] })
    expect((await signIn('cleo')).end).toBe('#signed-in')
    expect(await rolesOf(account.id)).toMatchObject([{ role: 'administrator' }, { role: 'owner' }])
    await createMember(platform, 'owner', workspaceId)
    await signIn('cleo')
    expect(await rolesOf(account.id)).toEqual([{ workspace_id: other, role: 'administrator' }])
  })

  test('is refused to a person without a role or an invitation, and accepts an invitation once', async () => {
    provider.people.set('dan', { email: 'dan@example.com' })
    const { browser, end } = await signIn('dan')
    expect(end).toBe('#no-account')
    expect((await tokenOf(browser)).status).toBe(401)
    expect(await platform.context.db('identities').where({ subject: 'dan' })).toEqual([])

    const { url: apiUrl, token } = platform
    const administrator = new Client({ apiUrl, token, workspaceId: platform.workspaceId })
    const { invitation } = await invite(administrator, 'dan@example.com', 'viewer')
    const invited = await signIn('dan', { invitation })
    expect(invited.end).toBe('#signed-in')
    const { account } = await accountOf(invited.browser)
    expect(await rolesOf(account.id)).toEqual([{ workspace_id: platform.workspaceId, role: 'viewer' }])
    provider.people.set('eve', {})
    provider.people.set('gus', { groups: ['Elsewhere'] })
    for (const one of [invitation, 'inv_that-nobody-has-made', 'x']) {
      const refused = await signIn('eve', { invitation: one })
      expect(refused.end).toBe('#invitation')
      expect((await tokenOf(refused.browser)).status).toBe(401)
    }
    const wrongWorkspace = await signIn('gus')
    expect(wrongWorkspace.end).toBe('#no-account')
    expect(await platform.context.db('identities').whereIn('subject', ['eve', 'gus'])).toEqual([])
    // Without an invitation the account is known by now.
    expect((await signIn('dan')).end).toBe('#signed-in')
  })

  test('does not take an account by its email address, and no address that is not verified', async () => {
    provider.people.set('fay', { email: 'ann@example.com', emailVerified: false, groups: ['Staff'] })
    const { account } = await accountOf((await signIn('fay')).browser)
    expect(account.email).not.toBe('ann@example.com')
    expect(await platform.context.db('accounts').where({ email: 'ann@example.com' })).toHaveLength(1)
  })

  test('ends in the browser in which it began, and once', async () => {
    provider.people.set('gil', { groups: ['Staff'] })
    const victim = new Browser()
    const attacker = new Browser()
    const begun = await attacker.send('POST', `${platform.url}${path}/sign-in`, { headers: own() })
    const back = await attacker.signIn(((await begun.response.json()) as { url: string }).url, 'gil')
    // A link with the attacker's code signs nobody else in.
    const { location } = await victim.send('GET', back)
    expect(new URL(location!).hash).toBe('#expired')
    // Also when the victim has begun to sign in itself.
    await victim.send('POST', `${platform.url}${path}/sign-in`, { headers: own() })
    expect(new URL((await victim.send('GET', back)).location!).hash).toBe('#failed')
    expect(victim.cookies.has('isobot_session')).toBe(false)
    const cookies = new Map(attacker.cookies)
    expect(new URL((await attacker.send('GET', back)).location!).hash).toBe('#signed-in')
    for (const [name, value] of cookies) attacker.cookies.set(name, value)
    expect(new URL((await attacker.send('GET', back)).location!).hash).toBe('#failed')
  })

  test('is not begun by pages of others, nor at another address than the provider sends people back to', async () => {
    const begin = (headers: Record<string, string>, url = platform.url) =>
      new Browser().send('POST', `${url}${path}/sign-in`, { headers })
    expect((await begin({ origin: 'https://evil.example' })).response.status).toBe(403)
    const elsewhere = platform.url.replace('localhost', '127.0.0.1')
    const { response } = await begin({ origin: elsewhere }, elsewhere)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ message: expect.stringContaining(platform.url) })
  })
})

describe('the cookie of a session', () => {
  test('is read for pages of the console’s own origin alone, and only to get a token', async () => {
    provider.people.set('hal', { groups: ['Staff'] })
    const { browser } = await signIn('hal')
    const refused: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example' },
      { origin: platform.url, 'sec-fetch-site': 'cross-site' },
      { origin: platform.url, 'sec-fetch-site': 'same-site' },
      { origin: `${platform.url}.evil.example` },
    ]
    for (const headers of refused) {
      const { status } = await tokenOf(browser, headers)
      expect({ headers, status }).toEqual({ headers, status: 403 })
    }
    expect((await tokenOf(browser)).status).toBe(200)
    for (const address of ['/v1/admin/account/me', '/v1/admin/workspaces', '/v1/files']) {
      const { response } = await browser.send('GET', `${platform.url}${address}`, { headers: own() })
      expect(response.status).toBe(401)
    }
    const asToken = { ...own(), authorization: `Bearer ${browser.cookies.get('isobot_session')}` }
    const { response } = await new Browser().send('GET', `${platform.url}/v1/admin/account/me`, { headers: asToken })
    expect(response.status).toBe(401)
  })

  test('has all the properties that keep it from scripts and from other addresses', async () => {
    provider.people.set('ida', { groups: ['Staff'] })
    const browser = new Browser()
    const begun = await browser.send('POST', `${platform.url}${path}/sign-in`, { headers: own() })
    const back = await browser.signIn(((await begun.response.json()) as { url: string }).url, 'ida')
    const { response } = await browser.send('GET', back)
    const line = response.headers.getSetCookie().find((each) => each.startsWith('isobot_session='))!
    for (const property of ['HttpOnly', 'SameSite=Strict', `Path=${path}`]) expect(line).toContain(`; ${property}`)
  })

  test('ends with a sign-out, with its time, and with its account, and so do its tokens', async () => {
    provider.people.set('jo', { groups: ['Staff'] })
    const me = (authorization: string) =>
      send('GET', `${platform.url}/v1/admin/account/me`, undefined, { authorization }).then(({ status }) => status)

    const { browser } = await signIn('jo')
    const { authorization, account } = await accountOf(browser)
    const secret = browser.cookies.get('isobot_session')!
    const foreign = await browser.send('POST', `${platform.url}${path}/sign-out`, { headers: { origin: 'null' } })
    expect(foreign.response.status).toBe(403)
    expect(await me(authorization)).toBe(200)
    await browser.send('POST', `${platform.url}${path}/sign-out`, { headers: own() })
    expect(await me(authorization)).toBe(401)
    browser.cookies.set('isobot_session', secret)
    expect((await tokenOf(browser)).status).toBe(401)

    const second = await signIn('jo')
    const held = await accountOf(second.browser)
    await platform.context.db('sessions').where({ account_id: account.id }).update({ expires_at: new Date() })
    expect(await me(held.authorization)).toBe(401)
    expect((await tokenOf(second.browser)).status).toBe(401)

    const third = await accountOf((await signIn('jo')).browser)
    await platform.context.db('accounts').where({ id: account.id }).delete()
    expect(await me(third.authorization)).toBe(401)
  })

  test('does not make a token that others can: changed, unsigned or signed by another secret', async () => {
    provider.people.set('kim', { groups: ['Staff'] })
    const { browser } = await signIn('kim')
    const { token } = (await tokenOf(browser)).body
    const [head, claims, signature] = token.slice('ses_'.length).split('.') as [string, string, string]
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    const forged = [
      `ses_${none}.${claims}.`,
      `ses_${head}.${claims}.${'A'.repeat(signature.length)}`,
      'ses_',
      'ses_a.b.c',
    ]
    for (const one of forged) {
      const { status } = await send('GET', `${platform.url}/v1/admin/account/me`, undefined, {
        authorization: `Bearer ${one}`,
      })
      expect(status).toBe(401)
    }
  })
})

test('a session’s token opens the live lines of the inbox, and its cookie does not', async () => {
  provider.people.set('max', { groups: ['Staff'] })
  provider.people.set('ned', { groups: ['Staff'] })
  const [max, ned] = await Promise.all(['max', 'ned'].map(async (login) => accountOf((await signIn(login)).browser)))
  const inbox = await followInbox(platform, { authorization: max!.authorization, 'x-workspace-id': workspaceId })
  expect(inbox.status).toBe(200)
  const present = await send(
    'PUT',
    `${platform.url}/v1/admin/presence`,
    {},
    {
      authorization: ned!.authorization,
      'x-workspace-id': workspaceId,
    },
  )
  expect(present.status).toBe(200)
  await expect.poll(() => inbox.lines()).toContainEqual({ type: 'presence', memberId: ned!.account.id })
  await inbox.close()
  const cookie = `isobot_session=${(await signIn('max')).browser.cookies.get('isobot_session')}`
  const withCookie = await followInbox(platform, { ...own(), cookie, 'x-workspace-id': workspaceId })
  expect(withCookie.status).toBe(401)
  await withCookie.close()
})

/** The number of sign-ins that had an outcome. */
async function countOf(outcome: string): Promise<number> {
  const { values } = await platform.context.metrics.signIns.get()
  return values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
}

test('sign-ins are counted by their outcome', async () => {
  const before = { signedIn: await countOf('signed-in'), expired: await countOf('expired') }
  provider.people.set('oda', { groups: ['Staff'] })
  const { back } = await signIn('oda')
  await new Browser().send('GET', back)
  expect({ signedIn: await countOf('signed-in'), expired: await countOf('expired') }).toEqual({
    signedIn: before.signedIn + 1,
    expired: before.expired + 1,
  })
})

test(
  'the console signs in with the provider, without keeping a token, until the person signs out',
  async () => {
    await using open = new AsyncDisposableStack()
    const chromium = open.adopt(await launchChromium(), (browser) => browser.close())
    await buildConsole()
    provider.people.set('lee', { email: 'lee@example.com', groups: ['/team/build'] })
    const tabs = await chromium.newContext()
    const page = await tabs.newPage()
    await page.goto(`${platform.url}/console`)
    await page.getByRole('button', { name: 'Sign in with the works' }).click()
    await page.getByPlaceholder('Enter any login').fill('lee')
    await page.getByPlaceholder('and password').fill('any')
    await page.getByRole('button', { name: 'Sign-in' }).click()
    await page.getByRole('link', { name: 'Bots' }).waitFor()
    await page.getByText('Person lee').waitFor()
    expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain('ses_')
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.reload()
    await page.getByText('Person lee').waitFor()
    const second = await tabs.newPage()
    await second.goto(`${platform.url}/console/members`)
    await second.getByText('lee@example.com').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with the works' }).waitFor()
    await second.reload()
    await second.getByRole('button', { name: 'Sign in with the works' }).waitFor()
  },
  installing,
)

test(
  'a page of the console whose session ends goes on after a sign-in in another tab',
  async () => {
    await using open = new AsyncDisposableStack()
    const chromium = open.adopt(await launchChromium(), (browser) => browser.close())
    await buildConsole()
    provider.people.set('kim', { email: 'kim@example.com', groups: ['/team/build'] })
    const page = await (await chromium.newContext()).newPage()
    const begin = async (tab: typeof page) => {
      await tab.getByRole('button', { name: 'Sign in with the works' }).click()
      const login = tab.getByPlaceholder('Enter any login')
      const own = tab.getByText('Person kim')
      await login.or(own).waitFor()
      if (await own.isVisible()) return
      await login.fill('kim')
      await tab.getByPlaceholder('and password').fill('any')
      await tab.getByRole('button', { name: 'Sign-in' }).click()
      await own.waitFor()
    }
    await page.goto(`${platform.url}/console`)
    await begin(page)
    await page.goto(`${platform.url}/console/queue`)
    await page.getByText('Person kim').waitFor()
    await page.evaluate('globalThis.isSamePage = true')
    await platform.context.db('sessions').delete()
    const dialog = page.getByRole('dialog', { name: 'Sign in again' })
    await dialog.getByText('Your session has ended').waitFor()
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      dialog.getByRole('link', { name: 'Sign in in another tab' }).click(),
    ])
    await begin(tab)
    await tab.close()
    // A headless browser may not send `focus` to a page that is shown again.
    await page.evaluate(`dispatchEvent(new Event('focus'))`)
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: 'Queue' }).waitFor()
    await expect.poll(() => page.getByRole('alert').count(), { timeout: 10_000 }).toBe(0)
    expect(await page.evaluate('globalThis.isSamePage')).toBe(true)
  },
  installing,
)
