import { closedObject } from '../../schema.ts'
import { once } from '../../rpc/journal.ts'
import { changedTags, toChange } from '../../models/tags.ts'
import { runtimeUser, toRuntimeUser, userFields } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { updateRuntimeUser } from '../../store/runtime-users.ts'
import { noUser } from './not-found.ts'

export const updateUser = operation({
  name: 'updateUser',
  description: 'Changes a user; null removes a field, a tag or a property.',
  method: 'PUT',
  path: '/v1/chat/users/{id}',
  access: 'bot',
  input: closedObject(
    { id: { type: 'string' } },
    {
      tags: changedTags,
      properties: changedTags,
      name: { ...userFields.name, type: ['string', 'null'] },
      pictureUrl: { ...userFields.pictureUrl, type: ['string', 'null'] },
      profile: { ...userFields.profile, type: ['string', 'null'] },
    },
  ),
  output: closedObject({ user: runtimeUser }),

  async handle(context, input) {
    const { caller } = context
    const { id, tags, properties, ...fields } = input
    const change = { ...fields, tags: toChange(caller, tags), properties: toChange({}, properties) }
    return {
      user: await once(context, input, async (db) => {
        const row = await updateRuntimeUser(db, caller, id, change)
        if (!row) throw noUser(id)
        return toRuntimeUser(row, caller)
      }),
    }
  },
})
