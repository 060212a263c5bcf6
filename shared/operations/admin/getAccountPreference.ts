import { closedObject } from '../../schema.ts'
import { preferenceKey, preferenceValue } from '../../models/preference.ts'
import { operation } from '../../rpc/operation.ts'
import { findPreference } from '../../store/preferences.ts'

export const getAccountPreference = operation({
  name: 'getAccountPreference',
  description:
    'Returns a preference of the token’s account, which programs store for it; without `value` if there is none.',
  method: 'GET',
  path: '/v1/admin/account/preferences/{key}',
  access: 'account',
  input: closedObject({ key: preferenceKey }),
  output: closedObject({}, { value: preferenceValue }),

  async handle({ db, caller }, { key }) {
    return { value: await findPreference(db, { accountId: caller.accountId }, key) }
  },
})
