import { closedObject } from '../../schema.ts'
import { builtInInterface } from '../../models/inbox-definition.ts'
import { interfaceSummary, toInterfaceSummary } from '../../models/interface.ts'
import { operation } from '../../rpc/operation.ts'
import { pageOfEntries } from '../../store/catalogue.ts'
import { pageInput, pageMeta, pageRequest, toMeta } from '../../store/pagination.ts'

export const listPublicInterfaces = operation({
  name: 'listPublicInterfaces',
  description:
    'Lists the versions of public interfaces: the built-in one, which precedes the first page, and those that workspaces have ' +
    'published, newest first.',
  method: 'GET',
  path: '/v1/admin/hub/interfaces',
  access: 'viewer',
  input: closedObject({}, { ...pageInput, name: { type: 'string' }, version: { type: 'string' } }),
  output: closedObject({ interfaces: { type: 'array', items: interfaceSummary }, meta: pageMeta }),

  async handle({ db }, input) {
    const page = await pageOfEntries(db, 'interfaces', 'public', input, pageRequest(input))
    const { nextToken, name, version } = input
    const isBuiltInWanted =
      nextToken === undefined &&
      (name ?? builtInInterface.name) === builtInInterface.name &&
      (version ?? builtInInterface.version) === builtInInterface.version
    const rows = [...(isBuiltInWanted ? [builtInInterface] : []), ...page.rows]
    return { interfaces: rows.map(toInterfaceSummary), meta: toMeta(page) }
  },
})
