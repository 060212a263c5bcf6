import { closedObject } from '../../schema.ts'
import { operation } from '../../rpc/operation.ts'
import { countPresent } from '../../store/presences.ts'

export const getPresence = operation({
  name: 'getPresence',
  description: 'Returns how many members who may answer in the bot’s conversations have their inbox open.',
  method: 'GET',
  path: '/v1/chat/presence',
  access: 'bot',
  stability: 'experimental',
  input: closedObject({}),
  output: closedObject({
    online: { type: 'integer' },
    away: { type: 'integer', description: 'Members who take no conversations now.' },
  }),

  async handle({ db, caller }) {
    return countPresent(db, caller.botId)
  },
})
