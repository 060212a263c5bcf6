import { hasRole } from '../../rpc/caller.ts'
import { closedObject } from '../../schema.ts'
import { ApiError, notFound } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { findUsable } from '../../integrations/catalogue.ts'
import type { BotDefinition } from '../../models/bot-definition.ts'
import type { BotRow } from '../../models/tables.ts'
import { operation } from '../../rpc/operation.ts'
import { findRole } from '../../store/accounts.ts'
import { beginRecord, endRecord } from '../../store/audit.ts'
import { lockBot, moveBot } from '../../store/bots.ts'
import { transact, type Database } from '../../store/database.ts'
import { releaseForeignHandovers } from '../../store/handovers.ts'
import { listForeignIntegrations, listIntegrationIds } from '../../store/installations.ts'
import { keepIntegrations } from '../../store/integrations.ts'
import { listDataRequestsOfBot } from '../../store/data-requests.ts'
import { lockWorkspaces } from '../../store/workspaces.ts'
import { isBeingDeleted, noSuchBot } from './describe-bot.ts'

export const transferBot = operation({
  name: 'transferBot',
  description:
    'Moves a bot with all its data, its addresses and its tokens to another workspace, of which the caller is an ' +
    'administrator too. Integrations and private plugins of the former workspace must be removed from it first, and erasures of ' +
    'persons that are in progress in one of the workspaces must end.',
  method: 'POST',
  path: '/v1/admin/bots/{id}/transfer',
  access: 'administrator',
  errors: ['ResourceNotFound', 'ReferenceConstraint', 'ResourceLockedConflict'],
  auditedFields: ['targetWorkspaceId'],
  input: closedObject({ id: { type: 'string' }, targetWorkspaceId: { type: 'string' } }),
  output: closedObject({}),

  async handle({ db, caller }, { id, targetWorkspaceId }) {
    const { accountId, workspaceId } = caller
    if (targetWorkspaceId === workspaceId) {
      throw new ApiError('InvalidPayload', `targetWorkspaceId: the bot is in the workspace '${workspaceId}' already`)
    }
    await transact(db, async (transaction) => {
      // The locks keep the workspaces, the caller's role and what is to be erased in them until the bot is there.
      await lockWorkspaces(transaction, [workspaceId, targetWorkspaceId])
      const role = await findRole(transaction, targetWorkspaceId, accountId)
      if (!role) throw notFound(`Workspace '${targetWorkspaceId}'`, 'you are not a member of a workspace with this id')
      if (!hasRole({ ...caller, role }, 'administrator')) {
        throw new ApiError(
          'Forbidden',
          `A transfer needs the role 'administrator' in both workspaces; yours is '${role}'`,
        )
      }
      const bot = await lockBot(transaction, workspaceId, id)
      if (!bot) throw noSuchBot(id)
      // Its rows are deleted in further transactions: the other workspace would get a bot without them.
      if (bot.deletion_began_at) throw isBeingDeleted(id)
      const erasures = await listDataRequestsOfBot(transaction, id, [workspaceId, targetWorkspaceId])
      if (erasures.length > 0) throw isBeingErased(erasures, workspaceId)
      // None becomes private before the bot is in the other workspace.
      await keepIntegrations(transaction, await listIntegrationIds(transaction, id))
      const foreign = [
        ...(await listForeignIntegrations(transaction, id, targetWorkspaceId)),
        ...(await listForeignPlugins(transaction, bot, targetWorkspaceId)),
      ]
      if (foreign.length > 0) throw cannotFollow(foreign)
      await moveBot(transaction, { id, from: workspaceId, to: targetWorkspaceId })
      await releaseForeignHandovers(transaction, id, targetWorkspaceId)
      // The record of the call is that of the former workspace.
      const record = { id: newId('audit'), workspaceId: targetWorkspaceId, accountId, email: null, resourceId: id }
      await beginRecord(transaction, { ...record, operation: 'transferBot', fields: `workspaceId=${workspaceId}` })
      await endRecord(transaction, record.id, { id, name: bot.name })
    })
    return {}
  },
})

/** The bot's plugins that its workspace can use and another one cannot. */
async function listForeignPlugins(db: Database, bot: BotRow, workspaceId: string) {
  const foreign: { alias: string; integration: string }[] = []
  for (const [alias, plugin] of Object.entries((bot.definition as BotDefinition).plugins ?? {})) {
    const row = plugin && (await findUsable(db, 'plugins', bot.workspace_id, plugin.id))
    if (row && !(await findUsable(db, 'plugins', workspaceId, row.id))) foreign.push({ alias, integration: row.name })
  }
  return foreign
}

function cannotFollow(installed: { alias: string; integration: string }[]): ApiError {
  const names = installed.map(({ alias, integration }) => (alias === integration ? alias : `${alias} (${integration})`))
  return new ApiError(
    'ReferenceConstraint',
    `The bot has integrations or plugins that the other workspace does not have: ${names.join(', ')}. Remove them from the bot ` +
      'first, and install those of the other workspace after the transfer',
    { metadata: { aliases: installed.map(({ alias }) => alias) } },
  )
}

/** An erasure finds only the rows of its workspace: it would be reported as completed without those of the bot. */
function isBeingErased(requests: { id: string; workspace_id: string }[], workspaceId: string): ApiError {
  const named = requests.map(({ id, workspace_id: of }) => (of === workspaceId ? id : 'one of the other workspace'))
  return new ApiError(
    'ResourceLockedConflict',
    `Data of persons is being erased: ${[...new Set(named)].join(', ')}. Transfer the bot when that is completed`,
  )
}
