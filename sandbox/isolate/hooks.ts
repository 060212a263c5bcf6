import { hooksOf, type BotExports } from './bot-module.ts'
import { apply, hasOwn, isObject } from './primordials.ts'
import { attributed, never, type KernelRun } from './run.ts'

/** One stage of hooks: the arguments of each hook, and the handling of the data that a hook returns. */
export interface Stage {
  name: string
  argument(): object
  replace(data: Record<string, unknown>): void
}

/** Calls the hooks of a stage in order, until one stops the pipeline; resolves to whether one did. */
export async function callHooks(run: KernelRun, bot: BotExports, stage: Stage): Promise<boolean> {
  const { hooks, self } = hooksOf(bot, stage.name)
  for (let index = 0; index < hooks.length; index += 1) {
    const call = () => apply(hooks[index] as Function, self, [stage.argument()]) as unknown
    const returned = await attributed(run, stage.name, call)
    if (run.ended) await never()
    if (!isObject(returned)) continue
    if (hasOwn(returned, 'data') && isObject(returned['data'])) stage.replace(returned['data'])
    if (hasOwn(returned, 'stop') && returned['stop'] === true) return true
  }
  return false
}
