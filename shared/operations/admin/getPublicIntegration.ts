import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { newestFitting } from '../../integrations/newest-fitting.ts'
import { describeChat, listChatVersions, publicIntegration } from '../../models/chat-integration.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicIntegration = operation({
  name: 'getPublicIntegration',
  description:
    'Returns the newest version of a public integration that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/hub/integrations/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject({
    name: { type: 'string' },
    version: { type: 'string', description: 'A version, a range such as `>=1.0.0 <2.0.0`, or `latest`.' },
  }),
  output: closedObject({ integration: publicIntegration }),

  async handle(_context, { name, version }) {
    const named = listChatVersions().filter((one) => one.name === name)
    const fitting = newestFitting(
      named.map(({ version }) => version),
      version,
    )
    const found = named.find((one) => one.version === fitting)
    const integration = found && describeChat(found.id)
    if (!integration) throw notFound(`Version ${version} of integration ${name}`)
    return { integration }
  },
})
