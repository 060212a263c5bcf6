import { ApiError } from '../../errors.ts'
import type { InspectedCode } from '../../code/inspect-code.ts'
import { findDeployedVersion } from '../../store/bots.ts'
import type { Database } from '../../store/database.ts'
import type { ShownIntegration } from '../../store/integrations.ts'

/**
 * Refuses code without hooks that would replace a version with hooks or actions, since the bot would lose them by
 * mistake.
 *
 * @param allowNoHooks whether that is intended; when undefined, it is intended if the code has actions
 * @throws ApiError `BreakingChanges`, which names the hooks and actions that the bot would lose
 */
export async function assertHooksRemain(
  db: Database,
  botId: string,
  code: InspectedCode,
  allowNoHooks: boolean | undefined,
): Promise<void> {
  if (allowNoHooks || code.kind === 'sdk' || code.hooks.length > 0) return
  const present = await findDeployedVersion(db, botId)
  if (!present) return
  const hooks = present.kind === 'sdk' ? ['handler'] : present.hooks
  const hasActions = code.actions.length > 0
  const isLoss = hasActions ? allowNoHooks === false && hooks.length > 0 : hooks.length + present.actions.length > 0
  if (!isLoss) return
  const actions = present.actions.filter((action) => !code.actions.includes(action))
  const lost = [...hooks, ...actions.map((action) => `the action ${action}`)].join(', ')
  throw new ApiError(
    'BreakingChanges',
    `The code has ${hasActions ? 'no hooks' : 'neither hooks nor actions'}, and would replace a version that has ${lost}. ` +
      'That version stays deployed. To deploy this code anyway, send it with allowNoHooks: true, or add a hook that does nothing',
    { metadata: { hooks, actions } },
  )
}

/**
 * Refuses new code of an integration that exports no function.
 *
 * @throws ApiError `BreakingChanges`, which names the actions and channels that the integration would lose
 */
export function assertFunctionsRemain({ definition }: ShownIntegration, code: InspectedCode): void {
  if (code.actions.length + code.channels.length + code.exports.length > 0) return
  const { actions = {}, channels = {} } = definition as { actions?: object; channels?: object }
  const lost = [
    ...Object.keys(actions).map((action) => `the action ${action}`),
    ...Object.keys(channels).map((channel) => `the channel ${channel}`),
  ]
  throw new ApiError(
    'BreakingChanges',
    `The code has no function that the platform calls, and would replace code that has ${lost.join(', ') || 'some'}. ` +
      'That code stays deployed. To deploy the new code anyway, add a register function that does nothing',
    { metadata: { actions: Object.keys(actions), channels: Object.keys(channels) } },
  )
}
