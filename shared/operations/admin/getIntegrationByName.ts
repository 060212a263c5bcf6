import { closedObject } from '../../schema.ts'
import { notFound } from '../../errors.ts'
import { newestFitting } from '../../integrations/newest-fitting.ts'
import { integration } from '../../models/integration.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'
import { listVersions } from '../../store/integrations.ts'
import { describeIntegration } from '../../integrations/describe-integration.ts'

export const getIntegrationByName = operation({
  name: 'getIntegrationByName',
  description:
    'Returns the newest version of an integration that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/integrations/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ integration }),

  async handle(context, { name, version }) {
    const { db, caller } = context
    const versions = await listVersions(db, caller.workspaceId, name)
    const fitting = newestFitting(
      versions.map(({ version }) => version),
      version,
    )
    const found = versions.find(({ version }) => version === fitting)
    if (!found) throw notFound(`Version ${version} of integration ${name}`)
    return { integration: await describeIntegration(context, found.id) }
  },
})
