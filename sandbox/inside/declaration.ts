import type { BotExports } from './bot-module.ts'
import { describeError } from './errors.ts'
import { isArray, isObject, keys, NativeTypeError, record, stringify } from './primordials.ts'

/** What a bundle declares as JSON, or the text of the error that refuses it. */
export type Declaration = { accepted: true; text: string } | { accepted: false; error: string }

export function declarationOf(bot: BotExports): Declaration {
  const { hooks, actions, register, retry } = bot
  const wrong = wrongGroup('hooks', hooks) ?? wrongGroup('actions', actions) ?? wrongHook(hooks) ?? wrongAction(actions)
  if (wrong !== undefined) return wrong
  const declared = { hooks: namesIn(hooks), actions: namesIn(actions), register: typeof register === 'function', retry }
  return { accepted: true, text: stringify(record(declared)) }
}

function wrongGroup(name: string, group: unknown): Declaration | undefined {
  if (group === undefined || (isObject(group) && !isArray(group))) return undefined
  return refusal(`exports.${name} must be an object of functions`)
}

function wrongHook(hooks: unknown): Declaration | undefined {
  const names = namesIn(hooks)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const value = (hooks as Record<string, unknown>)[name]
    if (!isHook(value)) return refusal(`exports.hooks.${name} must be a function or a list of functions`, name)
  }
  return undefined
}

function wrongAction(actions: unknown): Declaration | undefined {
  const names = namesIn(actions)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const value = (actions as Record<string, unknown>)[name]
    if (typeof value !== 'function') return refusal(`exports.actions.${name} must be a function`, name)
  }
  return undefined
}

function isHook(value: unknown): boolean {
  if (!isArray(value)) return typeof value === 'function'
  for (let index = 0; index < value.length; index += 1) if (typeof value[index] !== 'function') return false
  return true
}

function namesIn(group: unknown): string[] {
  return isObject(group) ? keys(group) : []
}

function refusal(message: string, hook?: string): Declaration {
  return { accepted: false, error: describeError(new NativeTypeError(message), hook) }
}
