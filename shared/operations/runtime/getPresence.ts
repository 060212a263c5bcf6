import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { countPresent } from '../../store/presences.ts'

export const getPresence = operation({
  name: 'getPresence',
  description: 'Counts the members who may answer in the bot’s conversations and have their inbox open.',
  method: 'GET',
  path: '/v1/chat/presence',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({
    online: { type: 'integer', description: 'Members who take conversations now.' },
    away: { type: 'integer', description: 'Members who take none now; they are not among those who are online.' },
  }),

  async handle({ db, caller }) {
    return countPresent(db, caller.botId)
  },
})
