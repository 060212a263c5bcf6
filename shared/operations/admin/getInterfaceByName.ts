import { closedObject } from '../../schema.ts'
import { requireVersion } from '../../integrations/catalogue.ts'
import { interfaceOutput, toInterface } from '../../models/interface.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'

export const getInterfaceByName = operation({
  name: 'getInterfaceByName',
  description:
    'Returns the newest version of an interface that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/interfaces/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db, caller }, wanted) {
    return {
      interface: toInterface(await requireVersion(db, 'interfaces', { workspaceId: caller.workspaceId }, wanted)),
    }
  },
})
