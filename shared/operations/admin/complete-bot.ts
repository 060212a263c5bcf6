import type { InspectedCode } from '../../code/inspect-code.ts'
import type { Context } from '../../context.ts'
import { schedulesOf, startsWithConversation, summarizeFlows } from '../../flows/flow-summary.ts'
import type { RenamedNodes } from '../../flows/renamed-nodes.ts'
import { newId } from '../../ids.ts'
import { changeInstallations, type PostCommitWork } from '../../integrations/install.ts'
import { planInstallations, type integrations } from '../../integrations/integrations.ts'
import type { recurringEvents } from '../../models/bot-definition.ts'
import { hasRole, type Administrator } from '../../rpc/caller.ts'
import type { Infer } from '../../schema.ts'
import { deployVersion } from '../../store/bots.ts'
import type { Database } from '../../store/database.ts'
import { insertBotRegistration } from '../../store/events.ts'
import { listInstallations } from '../../store/installations.ts'
import {
  planFlowSchedules,
  planRecurringEvents,
  setFlowSchedules,
  setRecurringEvents,
  type FirstTimes,
} from '../../store/recurring-events.ts'

/** The parts of a bot that have rows of their own. */
interface Parts {
  inspected: InspectedCode | undefined
  /** The positions of nodes in pictures of the flows, as JSON. */
  layouts: string | null | undefined
  /** Nodes of earlier versions that the new one has under other names; null for none. */
  renamedNodes: RenamedNodes | null
  /** The description of the new version. */
  note: string | undefined
  recurringEvents: Infer<typeof recurringEvents>
  schedules: Schedules
  integrations: Infer<typeof integrations>
}

/** The first times of recurring events and of the schedules of flows. */
interface Schedules {
  ofBot: FirstTimes
  ofFlows: FirstTimes
}

/**
 * Finds the times of a bot's schedules, before the transaction of `completeBot`, which would keep a connection meanwhile.
 *
 * @throws ApiError as `planRecurringEvents`
 */
export async function planSchedules(
  db: Database,
  inspected: InspectedCode | undefined,
  events: Infer<typeof recurringEvents>,
): Promise<Schedules> {
  const ofBot = await planRecurringEvents(db, events)
  const ofFlows = await planFlowSchedules(db, inspected ? schedulesOf(summarizeFlows(inspected.flows)) : [])
  return { ofBot, ofFlows }
}

/** Deploys a bot's code and changes its recurring events and installations, as part of the transaction with its row. */
export async function completeBot(
  context: Context & { caller: Administrator },
  transaction: Database,
  botId: string,
  { inspected, layouts, renamedNodes, note, recurringEvents, schedules, integrations }: Parts,
): Promise<PostCommitWork> {
  const { caller, config } = context
  if (inspected) {
    const flows = summarizeFlows(inspected.flows)
    await deployVersion(transaction, {
      ...inspected,
      id: newId('botver'),
      botId,
      authorId: caller.accountId,
      description: note,
      layouts: layouts ?? null,
      startsWithConversation: startsWithConversation(flows),
      renamedNodes,
    })
    await setFlowSchedules(transaction, botId, schedulesOf(flows), schedules.ofFlows)
  }
  await setRecurringEvents(transaction, botId, recurringEvents, schedules.ofBot)
  const present = await listInstallations(transaction, botId)
  const bot = {
    db: transaction,
    workspaceId: caller.workspaceId,
    secret: config.secret,
    showsSecrets: hasRole(caller, 'administrator'),
    present,
  }
  const work = await changeInstallations(context, transaction, botId, await planInstallations(bot, integrations))
  if (inspected?.kind !== 'sdk') return work
  const { id } = await insertBotRegistration(transaction, botId)
  return { ...work, botEvent: { id, botId } }
}
