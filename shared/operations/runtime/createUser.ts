import { closedObject } from '../../schema.ts'
import { createUser as create } from '../../messaging/get-or-create.ts'
import { once } from '../../rpc/journal.ts'
import { tagsInput } from '../../models/tags.ts'
import { runtimeUser, toRuntimeUser, userFields } from '../../models/user.ts'
import { operation } from '../../rpc/operation.ts'

/** The fields of a new user. */
export const userInput = {
  tags: tagsInput,
  properties: tagsInput,
  name: userFields.name,
  pictureUrl: userFields.pictureUrl,
  integrationName: { type: 'string', description: 'For bots: the integration of the user, if any.' },
} as const

export const createUser = operation({
  name: 'createUser',
  description: 'Creates a user of the calling integration or of the bot.',
  method: 'POST',
  path: '/v1/chat/users',
  access: 'bot',
  errors: ['ReferenceNotFound'],
  status: 201,
  input: closedObject({}, userInput),
  output: closedObject({ user: runtimeUser }),

  async handle(context, input) {
    return {
      user: await once(context, input, async (db) => toRuntimeUser(await create(context, db, input), context.caller)),
    }
  },
})
