import { closedObject } from '../../schema.ts'
import { newId } from '../../ids.ts'
import { toWorkspace, workspace, workspaceName } from '../../models/workspace.ts'
import { operation } from '../../rpc/operation.ts'
import { insertMember, insertWorkspace } from '../../store/accounts.ts'
import { transact } from '../../store/database.ts'
import { findOwnWorkspace } from './find-own-workspace.ts'

export const createWorkspace = operation({
  name: 'createWorkspace',
  description: 'Creates a workspace. The caller is its owner.',
  method: 'POST',
  path: '/v1/admin/workspaces',
  access: 'owner',
  input: closedObject({ name: workspaceName }),
  output: workspace,

  async handle({ db, caller }, { name }) {
    const { accountId } = caller
    const workspaceId = newId('wkspace')
    return transact(db, async (transaction) => {
      await insertWorkspace(transaction, { id: workspaceId, name })
      await insertMember(transaction, { workspaceId, accountId, role: 'owner' })
      return toWorkspace(await findOwnWorkspace({ db: transaction, caller: { ...caller, workspaceId } }, workspaceId))
    })
  },
})
