import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { describePublic, requirePublicVersion } from '../../integrations/public-integrations.ts'
import { publicIntegration } from '../../models/chat-integration.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicIntegration = operation({
  name: 'getPublicIntegration',
  description:
    'Returns the newest version of a public integration that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/hub/integrations/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ integration: publicIntegration }),

  async handle(context, { name, version }) {
    const integration = await describePublic(context, await requirePublicVersion(context.db, name, version))
    if (!integration) throw notFound(`Version ${version} of integration ${name}`)
    return { integration }
  },
})
