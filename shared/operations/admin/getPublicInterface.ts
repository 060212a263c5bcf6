import { closedObject } from '../../schema.ts'
import { requireVersion } from '../../integrations/catalogue.ts'
import { interfaceOutput, toInterface } from '../../models/interface.ts'
import { nameAndRange } from '../../models/version-range.ts'
import { operation } from '../../rpc/operation.ts'

export const getPublicInterface = operation({
  name: 'getPublicInterface',
  description:
    'Returns the newest version of a public interface that matches: an exact version, a semantic range, or `latest`.',
  method: 'GET',
  path: '/v1/admin/hub/interfaces/{name}/{version}',
  access: 'viewer',
  errors: ['ResourceNotFound'],
  input: closedObject(nameAndRange),
  output: closedObject({ interface: interfaceOutput }),

  async handle({ db }, wanted) {
    return { interface: toInterface(await requireVersion(db, 'interfaces', 'public', wanted)) }
  },
})
