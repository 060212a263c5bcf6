import type { CallTask } from '../protocol/contract.ts'
import type { BotExports } from './bot-module.ts'
import type { Pipeline } from './pipeline-parts.ts'
import { apply, assign, hasOwn, isObject, NativeTypeError, now } from './primordials.ts'
import { makeReadable } from './request-body.ts'
import { attributed } from './run.ts'

/** Calls a function that the bundle exports; resolves to its return value. */
export async function runCall(
  { run, bot, client, logger }: Pipeline,
  { path, optional = false, argument, streamed, addsContext, lambda }: CallTask,
): Promise<unknown> {
  const { called, self } = exportedFunction(bot, path)
  if (called === undefined) {
    if (optional) return {}
    throw new NativeTypeError(`There is no function ${path.length === 0 ? 'exports' : `exports.${nameOf(path)}`}`)
  }
  if (streamed !== undefined) makeReadable(run, argument, streamed)
  const given = addsContext ? assign(argument, { client, logger, env: run.environment }) : argument
  const values = lambda === undefined ? [given] : [given, lambdaContext(lambda)]
  const returned = await attributed(run, nameOf(path), () => apply(called, self, values) as unknown)
  return returned === undefined ? {} : returned
}

/** The published runtime of agents puts off the work for which no time is left by it. */
function lambdaContext({ endsAt, memoryMegabytes }: NonNullable<CallTask['lambda']>): object {
  return {
    functionName: 'isobot',
    functionVersion: '$LATEST',
    memoryLimitInMB: `${memoryMegabytes}`,
    getRemainingTimeInMillis: () => endsAt - now(),
  }
}

/** The first function on a path, and the object that it is a method of. */
function exportedFunction(bot: BotExports, path: ArrayLike<string>): { called: Function | undefined; self: unknown } {
  let self: unknown
  let found: unknown = bot
  for (let index = 0; index < path.length && typeof found !== 'function'; index += 1) {
    self = found
    found = isObject(self) && hasOwn(self, path[index]!) ? self[path[index]!] : undefined
  }
  return typeof found === 'function' ? { called: found, self } : { called: undefined, self: undefined }
}

function nameOf(path: ArrayLike<string>): string {
  let name = path[0]!
  for (let index = 1; index < path.length; index += 1) name += `.${path[index]!}`
  return name
}
