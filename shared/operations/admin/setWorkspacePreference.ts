import { closedObject } from '../../schema.ts'
import { preferenceKey, preferenceValue } from '../../models/preference.ts'
import { operation } from '../../rpc/operation.ts'
import { setPreference } from '../../store/preferences.ts'

export const setWorkspacePreference = operation({
  name: 'setWorkspacePreference',
  description: 'Stores a preference of the workspace, which its members share; without `value`, deletes it.',
  method: 'POST',
  path: '/v1/admin/workspaces/preferences/{key}',
  access: 'developer',
  errors: ['LimitExceeded'],
  input: closedObject({ key: preferenceKey }, { value: preferenceValue }),
  output: closedObject({}),

  async handle({ db, caller }, { key, value }) {
    await setPreference(db, { workspaceId: caller.workspaceId }, key, value)
    return {}
  },
})
