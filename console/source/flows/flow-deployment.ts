import type { Flow } from '../../../shared/flows/flow.ts'
import { ask } from '../api/ask.ts'
import type { Bot } from '../api/types.ts'
import { writeFlow } from './flow-text.ts'

/** Another deployment has changed or deleted the flow since its text was begun. */
export class FlowChangedError extends Error {
  /** The text of the flow that is deployed now; empty when there is none. */
  readonly present: string

  constructor(present: string) {
    const change = present === '' ? 'deleted' : 'changed'
    const again = present === '' ? 'adds it again' : 'replaces it'
    super(`The flow was ${change} by another deployment in the meantime. Another “Deploy” ${again}.`)
    this.present = present
  }
}

export interface FlowDeployment {
  edited: Flow
  /** The id of the deployed flow that it replaces; undefined for a new flow. */
  replaces: string | undefined
  /** The text of that flow when the change began; empty for a new flow. */
  basedOn: string
  /** Whether it may replace a flow that is not deployed any more. */
  mayBeDeleted: boolean
  /** Whether nodes at which conversations wait may go. */
  allowRemovedNodes: boolean
}

/**
 * Deploys a changed flow with the other flows of the bot.
 *
 * @throws FlowChangedError when the deployed flow is not the one with which the change began
 * @throws Failure when the platform refuses it
 */
export async function deployFlow(bot: Bot, deployment: FlowDeployment): Promise<void> {
  const { edited, replaces, basedOn, mayBeDeleted, allowRemovedNodes } = deployment
  const others = await deployedFlows(bot)
  const present = replaces === undefined ? undefined : others.find(({ id }) => id === replaces)
  const before = present ? writeFlow(present) : ''
  if (before !== basedOn && !(mayBeDeleted && !present)) throw new FlowChangedError(before)
  const flows = present ? others.map((each) => (each === present ? edited : each)) : [...others, edited]
  await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body: { flows, allowRemovedNodes } })
}

/** Deploys the flows of a bot without one of them. */
export async function deleteFlow(bot: Bot, flowId: string): Promise<void> {
  const flows = (await deployedFlows(bot)).filter(({ id }) => id !== flowId)
  await ask<'updateBot'>('PUT', `/bots/${bot.id}`, { body: { flows } })
}

/** The flows that are deployed now: those that the page has may be older. */
async function deployedFlows({ id }: Bot): Promise<Flow[]> {
  const { bot } = await ask<'getBot'>('GET', `/bots/${id}`)
  if (!bot.version) return []
  const { version } = await ask<'getBotVersion'>('GET', `/bots/${id}/versions/${bot.version.id}`)
  return (version.flows ?? []) as unknown as Flow[]
}
