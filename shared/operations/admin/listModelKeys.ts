import { hostedProviders } from '../../config/models-settings.ts'
import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { listModelKeys as findModelKeys } from '../../store/model-keys.ts'

export const listModelKeys = operation({
  name: 'listModelKeys',
  description: 'Lists the providers of language models of which the workspace has keys of its own, without the keys.',
  method: 'GET',
  path: '/v1/admin/models/keys',
  access: 'viewer',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({
    keys: {
      type: 'array',
      items: closedObject({
        provider: { enum: hostedProviders },
        setAt: { type: 'string', format: 'date-time' },
        setBy: { type: 'string', nullable: true, description: 'The account; null when it was deleted.' },
      }),
    },
  }),

  async handle({ db, caller }) {
    return { keys: await findModelKeys(db, caller.workspaceId) }
  },
})
