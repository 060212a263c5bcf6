import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { noHandover } from '../../messaging/handovers.ts'
import { handoverNote, noteText, toHandoverNote } from '../../models/handover-note.ts'
import { operation } from '../../rpc/operation.ts'
import { publishHint } from '../../signals/after-commit.ts'
import { findAccount } from '../../store/accounts.ts'
import { insertNote } from '../../store/handover-notes.ts'
import { lockHandover } from '../../store/handovers.ts'
import { transact } from '../../store/database.ts'
import { findOwnBot } from './find-version.ts'

export const createHandoverNote = operation({
  name: 'createHandoverNote',
  description: 'Adds a note to a handover. Members see it; the user and the bot do not.',
  method: 'POST',
  path: '/v1/admin/bots/{botId}/handovers/{id}/notes',
  access: 'agent',
  stability: 'experimental',
  errors: ['ResourceNotFound', 'LimitExceeded'],
  status: 201,
  input: closedObject({ botId: { type: 'string' }, id: { type: 'string' }, text: noteText }),
  output: closedObject({ note: handoverNote }),

  async handle(context, { botId, id, text }) {
    const { db, caller } = context
    const { accountId } = caller
    await findOwnBot(context, botId)
    const { conversationId, row } = await transact(db, async (transaction) => {
      const conversationId = await lockHandover(transaction, botId, id)
      if (conversationId === undefined) throw noHandover(id)
      const name = (await findAccount(transaction, accountId))?.name ?? ''
      const note = { id: newId('note'), handover_id: id, account_id: accountId, name, text }
      return { conversationId, row: await insertNote(transaction, note) }
    })
    await publishHint(context, conversationId)
    return { note: toHandoverNote(row) }
  },
})
