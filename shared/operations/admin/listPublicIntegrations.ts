import { closedObject } from '../../schema.ts'
import { pageInput, pageMeta } from '../../store/pagination.ts'
import { listChatVersions, publicIntegrationSummary } from '../../models/chat-integration.ts'
import { newestFitting } from '../../integrations/newest-fitting.ts'
import { operation } from '../../rpc/operation.ts'

const unsupported = { type: 'string', description: 'Accepted, and no public integration has it.' } as const

export const listPublicIntegrations = operation({
  name: 'listPublicIntegrations',
  description: 'Lists public integrations: the chat. Each workspace has its own integrations beside it.',
  method: 'GET',
  path: '/v1/admin/hub/integrations',
  access: 'viewer',
  input: closedObject(
    {},
    {
      ...pageInput,
      limit: { type: 'integer', minimum: 1, description: 'Has no effect: there is one page.' },
      name: { type: 'string' },
      version: { type: 'string', description: 'A version, a range, or `latest`.' },
      search: { type: 'string', description: 'A part of the name, the title or the description.' },
      interfaceId: unsupported,
      interfaceName: unsupported,
      installedByBotId: { type: 'string', description: 'Has no effect: every bot has the chat.' },
      verificationStatus: unsupported,
      sortBy: { enum: ['popularity', 'name', 'createdAt', 'updatedAt', 'installCount'] },
      direction: { enum: ['asc', 'desc'] },
    },
  ),
  output: closedObject({ integrations: { type: 'array', items: publicIntegrationSummary }, meta: pageMeta }),

  async handle(_context, { name, version, search = '', interfaceId, interfaceName, verificationStatus }) {
    const all = listChatVersions()
    const fitting =
      version &&
      newestFitting(
        all.map(({ version }) => version),
        version,
      )
    const isWanted = (one: (typeof all)[number]) =>
      (name === undefined || one.name === name) &&
      (version === undefined || one.version === fitting) &&
      `${one.name} ${one.title} ${one.description}`.toLowerCase().includes(search.toLowerCase()) &&
      (verificationStatus === undefined || one.verificationStatus === verificationStatus) &&
      interfaceId === undefined &&
      interfaceName === undefined
    return { integrations: all.filter(isWanted), meta: {} }
  },
})
