import type { Browser, Page } from 'playwright-core'
import type { Connection } from '../../../cli/connection.ts'
import { launchChromium } from '../../browser/chromium.ts'
import { sampleOf } from '../catalogue/sample.ts'
import { deployIntegrations } from '../stand-in/deploy-integrations.ts'
import { writeMeasured } from '../write-measured.ts'
import { accounts, vendors } from './vendors.ts'

/** One way through the wizard of an integration. */
interface Way {
  integration: 'slack' | 'hubspot' | 'linear'
  name: string
  /** The identifier that the installation has at the end; undefined where the person refuses. */
  identifier: string | undefined
  /** Takes the steps of a person between the platform's page and the last one. */
  walk(page: Page): Promise<void>
}

const ways: Way[] = [
  {
    integration: 'slack',
    name: 'the app of the operator',
    identifier: accounts.slack,
    async walk(page) {
      await choose(page, 'Connect with OAuth')
      await allow(page)
    },
  },
  {
    integration: 'slack',
    name: 'an app of the developer',
    identifier: accounts.slackBot,
    async walk(page) {
      await choose(page, 'Use existing Slack Application Credentials')
      for (const label of ['Slack Client ID', 'Slack Client Secret', 'Slack Signing Secret']) {
        await page.getByLabel(label).fill('own')
      }
      await submit(page)
      await allow(page)
    },
  },
  {
    integration: 'slack',
    name: 'an app that the wizard creates',
    identifier: accounts.slackBot,
    async walk(page) {
      await choose(page, 'Configure a new Slack Application')
      await page.getByLabel('Slack App Configuration Refresh Token').fill('xoxe-1')
      await page.getByLabel('Slack App Name').fill('Stand-in')
      await submit(page)
      await allow(page)
    },
  },
  {
    integration: 'hubspot',
    name: 'without handovers',
    identifier: accounts.hubspot,
    async walk(page) {
      await choose(page, 'Connect to HubSpot (CRM only)')
      await allow(page)
    },
  },
  {
    integration: 'hubspot',
    name: 'with handovers to two inboxes',
    identifier: accounts.hubspot,
    async walk(page) {
      await choose(page, 'Connect to HubSpot with HITL (Human-in-the-Loop)')
      await allow(page)
      await page.getByLabel('Sales (ID: 1)').check()
      await choose(page, 'Support (ID: 2)')
      await page.getByRole('heading', { name: 'Select Default Inbox' }).waitFor()
      await choose(page, 'Support (ID: 2)')
    },
  },
  {
    integration: 'hubspot',
    name: 'the person refuses',
    identifier: undefined,
    async walk(page) {
      await choose(page, 'Connect to HubSpot (CRM only)')
      await page.getByText('Deny').click()
    },
  },
  {
    integration: 'linear',
    name: 'as an app',
    identifier: accounts.linear,
    async walk(page) {
      await allow(page, 'user')
      await allow(page, 'app')
    },
  },
  {
    integration: 'linear',
    name: 'as a person, because the app is refused',
    identifier: accounts.linear,
    async walk(page) {
      await allow(page, 'user')
      await page.getByRole('heading', { name: 'Consent of the app' }).waitFor()
      await page.getByText('Deny').click()
      await page.getByText('Install without webhooks').click()
    },
  },
]

async function choose(page: Page, label: string): Promise<void> {
  await page.getByLabel(label, { exact: true }).check()
  await submit(page)
}

async function submit(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Submit' }).click()
}

async function allow(page: Page, actor = ''): Promise<void> {
  await page.getByRole('heading', { name: `Consent of the ${actor}` }).waitFor()
  await page.getByText('Allow').click()
}

/**
 * Deploys integrations of a checkout of the public repository, unmodified, to a platform of its own, and installs each in a
 * browser by its wizard. The services that the code and the browser ask are a stand-in on this machine.
 *
 * @param writes whether to write the results into the documentation too
 */
export async function measureWizards(source: string, writes: boolean): Promise<void> {
  await using parts = new AsyncDisposableStack()
  const services = vendors()
  const hosts = Object.keys(services)
  const names = new Set<string>(ways.map(({ integration }) => integration))
  const options = { vendors: services, parts, otherSecrets: 'none' }
  const { api, standIn, version } = await deployIntegrations(source, names, options)
  const { browserArguments } = standIn
  const browser = parts.adopt(await launchChromium({ browserArguments }), (open) => open.close())
  const lines: string[] = []
  let failed = 0
  for (const way of ways) {
    const outcome = await tryWay(way, { api, browser, hosts }).catch((error: Error) => `fails: ${error.message}`)
    if (outcome.startsWith('fails')) failed += 1
    const cell = outcome.replaceAll(/[|\n]/g, ' ').slice(0, 300)
    lines.push(`| ${way.integration} | ${way.name} | ${cell} |`)
    console.log(`${way.integration}, ${way.name}: ${cell}`)
  }
  for (const request of standIn.unknown) console.log(`The stand-in does not know ${request}`)
  const summary = `${new Date().toISOString().slice(0, 10)}, \`bp\` ${version}: ${ways.length - failed} of ${ways.length} work.`
  console.log(summary)
  if (failed > 0) process.exitCode = 1
  if (writes) {
    await writeMeasured(
      'catalogue.md',
      [summary, '', '| Wizard | Way | |', '| --- | --- | --- |', ...lines],
      'measured wizards',
    )
  }
}

interface Scene {
  api: Connection
  browser: Browser
  hosts: string[]
}

/** Installs an integration on a bot of its own in a browser with a new profile. @throws Error when it is not as expected */
async function tryWay({ integration: name, identifier, walk }: Way, scene: Scene): Promise<string> {
  const { api } = scene
  const { integrations } = await api.ask<'listIntegrations'>('GET', '/v1/admin/integrations', { query: { name } })
  const integrationId = integrations[0]!.id
  const { integration } = await api.ask<'updateIntegration'>('PUT', `/v1/admin/integrations/${integrationId}`, {
    body: { permissions: { net: scene.hosts } },
  })
  const { bot } = await api.ask<'createBot'>('POST', '/v1/admin/bots', { body: { name: 'Wizard' } })
  try {
    const configuration = sampleOf({ type: 'object', ...integration.configuration.schema })
    const install = async () =>
      (
        await api.ask<'updateBot'>('PUT', `/v1/admin/bots/${bot.id}`, {
          body: { integrations: { tried: { integrationId, enabled: true, configuration } } },
        })
      ).bot.integrations['tried']!
    await install()
    const bots = `/v1/admin/bots/${bot.id}/installations`
    const { installations } = await api.ask<'listBotInstallations'>('GET', bots)
    const { id } = installations.find(({ alias }) => alias === 'tried')!
    const { url } = await api.ask<'authorizeInstallation'>('POST', `${bots}/${id}/authorize`, { body: {} })
    // The certificate of the stand-in is its own authority.
    await using context = await scene.browser.newContext({ ignoreHTTPSErrors: true })
    const page = await context.newPage()
    page.setDefaultTimeout(20_000)
    await page.goto(url)
    await page.getByRole('button', { name: 'Continue' }).click()
    const heading = `The integration is ${identifier === undefined ? 'not connected' : 'connected'}`
    try {
      await walk(page)
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    } catch (cause) {
      const shown = (await page.innerText('body')).slice(0, 200)
      throw new Error(`${new URL(page.url()).pathname} shows: ${shown}`, { cause })
    }
    const connected = await install()
    if (connected.identifier !== identifier) throw new Error(`its identifier is ${connected.identifier}`)
    if (identifier === undefined) return 'is not connected, and the page says so'
    if (connected.status !== 'registered') throw new Error(`it is ${connected.status}: ${connected.statusReason}`)
    return 'works; then it registers'
  } finally {
    await api.ask<'deleteBot'>('DELETE', `/v1/admin/bots/${bot.id}`)
  }
}
