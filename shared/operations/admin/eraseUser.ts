import { closedObject } from '../../schema.ts'
import { dataRequest, personInput, toDataRequest, toSubject } from '../../models/data-request.ts'
import { newId } from '../../ids.ts'
import { operation } from '../../rpc/operation.ts'
import { encryptJson } from '../../secrets.ts'
import { insertDataRequest } from '../../store/data-requests.ts'
import { transact } from '../../store/database.ts'
import { lockWorkspace } from '../../store/workspaces.ts'
import { findOwnBot } from './find-version.ts'

export const eraseUser = operation({
  name: 'eraseUser',
  description:
    'Has workers erase the data of a person: the users that are named, or have an identifier as a tag, a property, a name or ' +
    'an external id, with their states, files and messages, and the conversations that nobody else takes part in. Then all ' +
    'other rows are searched for the ids and the identifiers; those that name the person become findings, or are erased.',
  method: 'POST',
  path: '/v1/admin/users/erase',
  access: 'administrator',
  stability: 'experimental',
  status: 201,
  errors: ['ResourceNotFound'],
  auditedFields: ['botId', 'userId', 'eraseFindings'],
  isClosed: true,
  input: closedObject(
    {},
    {
      ...personInput,
      eraseFindings: { type: 'boolean', description: 'Erase the findings too. Default: list them.' },
    },
  ),
  output: closedObject({ dataRequest }),

  async handle(context, { eraseFindings = false, ...person }) {
    const { db, caller, config } = context
    const subject = toSubject(person)
    const id = newId('datareq')
    const request = {
      id,
      workspace_id: caller.workspaceId,
      account_id: caller.accountId,
      bot_id: person.botId ?? null,
      erases_findings: eraseFindings,
      subject: await encryptJson(config.secret, id, subject),
    }
    const row = await transact(db, async (transaction) => {
      // No bot leaves the workspace, or comes to it, between the check of a transfer and this request.
      await lockWorkspace(transaction, caller.workspaceId)
      if (person.botId !== undefined) await findOwnBot({ ...context, db: transaction }, person.botId)
      return insertDataRequest(transaction, request)
    })
    return { dataRequest: toDataRequest({ ...row, user_ids: [], findings: 0 }) }
  },
})
