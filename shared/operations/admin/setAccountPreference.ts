import { closedObject } from '../../schema.ts'
import { preferenceKey, preferenceValue } from '../../models/preference.ts'
import { operation } from '../../rpc/operation.ts'
import { setPreference } from '../../store/preferences.ts'

export const setAccountPreference = operation({
  name: 'setAccountPreference',
  description: 'Stores a preference of the token’s account; without `value`, deletes it.',
  method: 'POST',
  path: '/v1/admin/account/preferences/{key}',
  access: 'account',
  errors: ['LimitExceeded'],
  input: closedObject({ key: preferenceKey }, { value: preferenceValue }),
  output: closedObject({}),

  async handle({ db, caller }, { key, value }) {
    await setPreference(db, { accountId: caller.accountId }, key, value)
    return {}
  },
})
