import { closedObject } from '../../schema.ts'
import { newestFitting } from '../../integrations/newest-fitting.ts'
import { toPublicSummary } from '../../integrations/public-integrations.ts'
import { inboxIntegration, listBuiltInVersions, publicIntegrationSummary } from '../../models/chat-integration.ts'
import { builtInInterface } from '../../models/inbox-definition.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'
import { findBot } from '../../store/bots.ts'
import { listInstalledIntegrations } from '../../store/integrations.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'
import { listPublicVersions, pageOfPublicIntegrations, type PublicFilter } from '../../store/public-integrations.ts'
import { noSuchBot } from './describe-bot.ts'

export const listPublicIntegrations = operation({
  name: 'listPublicIntegrations',
  description:
    'Lists public integrations: the built-in ones, which precede the first page, and those that workspaces have published, newest first.',
  method: 'GET',
  path: '/v1/admin/hub/integrations',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(
    {},
    {
      ...pageInput,
      limit: { type: 'integer', minimum: 1, description: 'Has no effect: use `pageSize`.' },
      name: nameAndRange.name,
      version: { ...nameAndRange.version, description: 'A version; with `name` also a range, or `latest`.' },
      search: { type: 'string', description: 'A part of the name, the title or the description.' },
      interfaceId: { type: 'string', description: 'Only those that implement the interface with this id.' },
      interfaceName: { type: 'string', description: 'Only those that implement an interface of this name.' },
      installedByBotId: { type: 'string', description: 'Only those that are installed on this bot.' },
      verificationStatus: { type: 'string', description: 'Every integration is `unapproved`.' },
      sortBy: { enum: ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'], description: 'Has no effect.' },
      direction: { enum: ['asc', 'desc'], description: 'Has no effect.' },
    },
  ),
  output: closedObject({ integrations: { type: 'array', items: publicIntegrationSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const { name, version, search, interfaceId, interfaceName, installedByBotId: botId, verificationStatus } = input
    if (verificationStatus !== undefined && verificationStatus !== 'unapproved') return { integrations: [], meta: {} }
    if (botId !== undefined && !(await findBot(db, caller.workspaceId, botId))) throw noSuchBot(botId)
    const installed = botId === undefined ? undefined : await listInstalledIntegrations(db, botId)
    const filter: PublicFilter = {
      ids: installed?.map(({ id }) => id),
      name,
      version,
      search,
      interfaceId,
      interfaceName,
    }
    if (name !== undefined && version !== undefined)
      filter.version = fitting(await listPublicVersions(db, name), version)
    const page = await pageOfPublicIntegrations(db, filter, pageRequest(input))
    const isFirstPage = input.nextToken === undefined
    const builtIn = isFirstPage ? builtIns(filter, version) : []
    return { integrations: [...builtIn, ...page.rows.map(toPublicSummary)], meta: toMeta(page) }
  },
})

/** The interface that a built-in integration implements. */
function implementedBy(name: string) {
  return name === inboxIntegration ? builtInInterface : undefined
}

/** The version that fits, or the wanted one, which none has. */
function fitting(versions: { version: string }[], wanted: string): string {
  return (
    newestFitting(
      versions.map(({ version }) => version),
      wanted,
    ) ?? wanted
  )
}

/** The built-in integrations that a filter lets through; every bot has the chat. */
function builtIns({ name, search = '', interfaceId, interfaceName }: PublicFilter, version: string | undefined) {
  const all = listBuiltInVersions()
  const wanted = version && fitting(all, version)
  return all.filter(
    (one) =>
      (name === undefined || one.name === name) &&
      (wanted === undefined || one.version === wanted) &&
      (interfaceId === undefined || implementedBy(one.name)?.id === interfaceId) &&
      (interfaceName === undefined || implementedBy(one.name)?.name === interfaceName) &&
      `${one.name} ${one.title} ${one.description}`.toLowerCase().includes(search.toLowerCase()),
  )
}
