import { closedObject } from '../../schema.ts'
import { preferenceKey, preferenceValue } from '../../models/preference.ts'
import { operation } from '../../rpc/operation.ts'
import { findPreference } from '../../store/preferences.ts'

export const getWorkspacePreference = operation({
  name: 'getWorkspacePreference',
  description: 'Returns a preference of the workspace, which its members share; without `value` if there is none.',
  method: 'GET',
  path: '/v1/admin/workspaces/preferences/{key}',
  access: 'viewer',
  input: closedObject({ key: preferenceKey }),
  output: closedObject({}, { value: preferenceValue }),

  async handle({ db, caller }, { key }) {
    return { value: await findPreference(db, { workspaceId: caller.workspaceId }, key) }
  },
})
