import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium } from '../../browser/chromium.ts'
import { logOf } from '../../support/install-code.ts'
import { openPlatform, type Platform } from '../../support/platform.ts'

const parts = new AsyncDisposableStack()
let platform: Platform
let browser: Browser
/** The address of a service that asks a person for consent. */
let service: string
beforeAll(async () => {
  platform = parts.use(await openPlatform())
  browser = parts.adopt(await launchChromium(), (open) => open.close())
  service = await startService()
  await createIntegration()
})
afterAll(() => parts.disposeAsync())

async function startService(): Promise<string> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url!, 'http://service')
    const back = `${searchParams.get('back')}?${new URLSearchParams({ code: 'c0de', state: searchParams.get('state')! }).toString()}`
    response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="${back.replaceAll('&', '&amp;')}">Agree</a>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  parts.defer(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** As bundles of the public SDK do it: pages with forms, the service, and the way back, each with the same state. */
const code = () => `
  const page = (body) => ({
    headers: { 'content-type': 'text/html', 'x-bp-disable-interstitial': 'true' },
    body: '<!doctype html><title>Wizard</title>' + body,
  })
  export const register = () => {}
  export const handler = async ({ request, client, logger, ctx }) => {
    const query = new URLSearchParams(request.query)
    const state = encodeURIComponent(query.get('state'))
    logger.info('called', request.method, request.path, request.headers.cookie)
    if (request.path === '/oauth/wizard/start') {
      return page('<form method="post" action="/oauth/wizard/choice?state=' + state + '">' +
        '<input name="team" aria-label="Team"><button>Next</button></form>')
    }
    if (request.path === '/oauth/wizard/choice') {
      const back = new URL('/oauth', query.get('base') ?? '${platform.url}').href
      const location = '${service}/consent?' + new URLSearchParams({ back, state: query.get('state') })
      return { status: 303, headers: { location, 'x-bp-disable-interstitial': 'true' } }
    }
    if (query.get('code') === 'c0de') return { headers: { 'X-BP-Integration-Identifier': 'team-7' } }
    throw new Error('The code is wrong')
  }`

let integrationId: string
async function createIntegration(): Promise<void> {
  const { body } = await platform.ask('POST', '/v1/admin/integrations', {
    name: 'vendor',
    version: '1.0.0',
    code: code(),
    configuration: {
      schema: {},
      identifier: {
        linkTemplateScript: `
          id = to_string!(.webhookId)
          origin = to_string!(.webhookUrl)
          "{{ origin }}/oauth/wizard/start?state={{ id }}"`,
      },
    },
    configurations: {
      other: { schema: {}, identifier: { linkTemplateScript: '"javascript:alert(1)"' } },
      none: { schema: {} },
    },
  })
  integrationId = body.integration.id
}

async function install(fields: object = {}) {
  const { id: botId } = await platform.createBot(undefined, { name: 'A <b>shop</b>' })
  const { body } = await platform.ask('PUT', `/v1/admin/bots/${botId}`, {
    integrations: { vendor: { integrationId, enabled: true, configuration: {}, ...fields } },
  })
  const { webhookId } = body.bot.integrations.vendor
  const listed = await platform.ask('GET', `/v1/admin/bots/${botId}/installations`)
  const { id, canAuthorize } = listed.body.installations.find(({ alias }: { alias: string }) => alias === 'vendor')
  return { botId, webhookId, id, canAuthorize }
}

const authorize = ({ botId, id }: { botId: string; id: string }) =>
  platform.ask('POST', `/v1/admin/bots/${botId}/installations/${id}/authorize`, {})

async function identifierOf(botId: string): Promise<string | undefined> {
  const { body } = await platform.ask('GET', `/v1/admin/bots/${botId}`)
  return body.bot.integrations.vendor.identifier
}

test('a person authorizes an integration by its wizard and the service, which takes the identifier from the former installation', async () => {
  const former = await install()
  await platform.context.db('installations').where({ id: former.id }).update({ identifier: 'team-7' })
  const installed = await install()
  expect(installed.canAuthorize).toBe(true)
  const { body } = await authorize(installed)
  await using context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(body.url)
  expect(await page.getByRole('main').textContent()).toContain('The bot “A <b>shop</b>” asks for access')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Team').fill('seven')
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('Agree').click()
  await page.getByRole('heading', { name: 'The integration is connected' }).waitFor()
  expect(new URL(page.url()).pathname).toBe('/oauth/interstitial')
  expect([await identifierOf(installed.botId), await identifierOf(former.botId)]).toEqual(['team-7', undefined])
  // The cookie of the platform is none of the integration's.
  expect(await logOf(platform, installed.botId)).toContain('info called POST /oauth/wizard/choice undefined')
})

/** Presses the button of a link's page, without a browser. */
const confirm = (url: string) =>
  fetch(url, { method: 'POST', redirect: 'manual', headers: { origin: new URL(url).origin } })

test('a form of another site that sends a link leads to the question, and begins no authorization', async () => {
  const { body } = await authorize(await install())
  for (const headers of [{ origin: service }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
    const sent = await fetch(body.url, { method: 'POST', redirect: 'manual', headers })
    expect([sent.status, sent.headers.get('set-cookie')]).toEqual([200, null])
  }
  await using context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${service}/?back=x&state=x`)
  await page.evaluate(`{
    const form = Object.assign(document.createElement('form'), { method: 'post', action: ${JSON.stringify(body.url)} })
    document.body.append(form)
    form.submit()
  }`)
  await page.getByText('asks for access').waitFor()
  expect(await context.cookies()).toEqual([])
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Team').waitFor()
  expect((await context.cookies()).map(({ path }) => path)).toEqual(['/oauth'])
})

test('a link works once, and no browser but the one that followed it gets any further', async () => {
  const installed = await install()
  const { body } = await authorize(installed)
  const first = await confirm(body.url)
  expect(first.status).toBe(303)
  const cookie = first.headers.get('set-cookie')!.split(';')[0]!
  expect((await confirm(body.url)).status).toBe(404)
  expect((await fetch(body.url)).status).toBe(404)
  const callback = `${platform.url}/oauth?state=${installed.webhookId}&code=c0de`
  expect((await fetch(callback)).status).toBe(403)
  const forged = cookie.replace(/=.*/, '=eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.')
  expect((await fetch(callback, { headers: { cookie: forged } })).status).toBe(403)
  const other = await install()
  const renamed = cookie.replace(installed.webhookId, other.webhookId)
  const elsewhere = `${platform.url}/oauth?state=${other.webhookId}&code=c0de`
  expect((await fetch(elsewhere, { headers: { cookie: `${cookie}; ${renamed}` } })).status).toBe(403)
  expect(await logOf(platform, other.botId)).not.toContain('called')
  expect((await fetch(callback, { headers: { cookie }, redirect: 'manual' })).status).toBe(303)
})

test('an integration that fails leads to a page that says so, and an unknown state to no integration', async () => {
  const installed = await install()
  const { body } = await authorize(installed)
  const begun = await confirm(body.url)
  const cookie = begun.headers.get('set-cookie')!.split(';')[0]!
  const failed = await fetch(`${platform.url}/oauth?state=${installed.webhookId}&code=wrong`, { headers: { cookie } })
  expect(failed.status).toBe(200)
  expect(await failed.text()).toMatch(/The integration is not connected[^]*under event evt_/)
  for (const query of ['', '?state=', '?state=unknown', `?state=${installed.webhookId}&state=x`]) {
    expect((await fetch(`${platform.url}/oauth${query}`, { headers: { cookie } })).status).toBe(403)
  }
})

test('the text of an error that an address gives is escaped, and its page runs nothing', async () => {
  const errorMessage = '<img src=x onerror=alert(1)>'
  const response = await fetch(
    `${platform.url}/oauth/interstitial?${new URLSearchParams({ success: 'false', errorMessage }).toString()}`,
  )
  expect(await response.text()).toContain('&lt;img src=x')
  expect(response.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
})

test('without a script, or with one that writes no https address, there is no link', async () => {
  const without = await install({ configurationType: 'none' })
  expect(without.canAuthorize).toBeUndefined()
  expect((await authorize(without)).body.message).toMatch(/no linkTemplateScript/)
  const wrong = await authorize(await install({ configurationType: 'other' }))
  expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining('is no https address')])
  const foreign = await platform.ask('POST', '/v1/admin/workspaces', { name: 'Another' })
  const { botId, id } = await install()
  const path = `/v1/admin/bots/${botId}/installations/${id}/authorize`
  const refused = await platform.ask('POST', path, {}, { 'x-workspace-id': foreign.body.id })
  expect(refused.status).toBe(404)
})
