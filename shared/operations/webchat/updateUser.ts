import { closedObject } from '../../schema.ts'
import { ApiError } from '../../errors.ts'
import { userFields } from '../../models/user.ts'
import { toWebchatUser, userDataTag, webchatUser } from '../../models/webchat.ts'
import { operation } from '../../rpc/operation.ts'
import { updateRuntimeUser } from '../../store/runtime-users.ts'
import { noSuchUser, presentUser } from '../chat/external-ids.ts'

/** Characters of the data that a page may give about a visitor, as JSON. */
const maxUserData = 10_000
const unchanged = { set: {}, removed: [] }

export const updateUser = operation({
  name: 'updateUser',
  description: 'Sets the given fields of the visitor of the key. `userData` replaces the former data.',
  method: 'PUT',
  path: '/webchat/{webhookId}/users/me',
  access: 'user',
  input: closedObject(
    {},
    {
      name: userFields.name,
      pictureUrl: userFields.pictureUrl,
      userData: { type: 'object', description: 'Data of the page for the bot. The platform does not verify it.' },
    },
  ),
  output: closedObject({ user: webchatUser }),

  async handle(context, { name, pictureUrl, userData }) {
    const { db, caller } = context
    const { id } = await presentUser(context)
    const json = userData && JSON.stringify(userData)
    if (json !== undefined && json.length > maxUserData) {
      throw new ApiError('InvalidPayload', `userData is longer than ${maxUserData} characters of JSON: shorten it`)
    }
    const updated = await updateRuntimeUser(db, { botId: caller.installation.bot_id }, id, {
      tags: json === undefined ? unchanged : { set: { [userDataTag]: json }, removed: [] },
      properties: unchanged,
      name,
      pictureUrl,
    })
    if (!updated) throw noSuchUser(caller)
    return { user: toWebchatUser(updated) }
  },
})
