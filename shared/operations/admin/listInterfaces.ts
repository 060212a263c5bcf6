import { closedObject } from '../../schema.ts'
import { interfaceSummary, toInterfaceSummary } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfEntries } from '../../store/catalogue.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listInterfaces = operation({
  name: 'listInterfaces',
  description: 'Lists the versions of the workspace’s interfaces, newest first.',
  method: 'GET',
  path: '/v1/admin/interfaces',
  access: 'viewer',
  input: closedObject({}, { ...pageInput, name: { type: 'string' }, version: { type: 'string' } }),
  output: closedObject({ interfaces: { type: 'array', items: interfaceSummary }, meta: pageMeta }),

  async handle({ db, caller }, input) {
    const page = await pageOfEntries(db, 'interfaces', { workspaceId: caller.workspaceId }, input, pageRequest(input))
    return { interfaces: page.rows.map(toInterfaceSummary), meta: toMeta(page) }
  },
})
