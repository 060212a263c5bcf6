import { closedObject } from '../../schema.ts'
import { createdMeta, getOrCreateUser as getOrCreate } from '../../messaging/get-or-create.ts'
import { once } from '../../rpc/journal.ts'
import { changedTags, discriminateByTags } from '../../models/tags.ts'
import { runtimeUser, toRuntimeUser } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'
import { userInput } from './createUser.ts'

export const getOrCreateUser = operation({
  name: 'getOrCreateUser',
  description: 'Returns the user with these tags; creates it if it does not exist.',
  method: 'POST',
  path: '/v1/chat/users/get-or-create',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  input: closedObject({}, { ...userInput, tags: changedTags, properties: changedTags, discriminateByTags }),
  output: closedObject({ user: runtimeUser, meta: createdMeta }),

  async handle(context, input) {
    return once(context, input, async (db) => {
      const { row, created } = await getOrCreate(context, db, input)
      return { user: toRuntimeUser(row, context.caller), meta: { created } }
    })
  },
})
