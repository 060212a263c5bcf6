import type { BundleKind } from '../protocol/contract.ts'
import { isolationOf, type BotExports } from './bot-module.ts'
import type { Flows } from './flows/definition.ts'
import { describeError } from './errors.ts'
import { reasonOf } from './json-text.ts'
import {
  functionToText,
  hasOwn,
  isArray,
  isObject,
  keys,
  NativeTypeError,
  parse,
  record,
  sliceText,
  stringify,
} from './primordials.ts'

/** The declaration of a bundle as JSON, or the text of the error that refuses the bundle. */
export type Declaration = { accepted: true; text: string } | { accepted: false; error: string }

/** Upper bound of the names that an error lists. */
const maxNames = 5
const maxNameCharacters = 50
/** Characters of a function of a flow that its description keeps. */
const functionCharacters = 2000

/** @param flows of the bundle, by id */
export function declarationOf(bot: BotExports, kind: BundleKind, flows: Flows | undefined): Declaration {
  const isolation = isolationOf(bot)
  if (isolation !== undefined && isolation !== 'event') {
    return refusal(
      "exports.isolation must be 'event', which gives each event a new evaluation of the module, or absent",
    )
  }
  if (kind === 'sdk') return sdkDeclaration(bot)
  const { hooks, actions, channels, register, unregister, handler, retry, actionDefinitions } = bot
  const wrong =
    wrongGroup('hooks', hooks) ??
    wrongGroup('actions', actions) ??
    wrongGroup('channels', channels) ??
    wrongFunction('register', register) ??
    wrongFunction('unregister', unregister) ??
    wrongFunction('handler', handler) ??
    wrongHook(hooks) ??
    wrongAction(actions) ??
    wrongChannel(channels) ??
    wrongFlows(bot['flows']) ??
    (flows === undefined ? nothingExported(bot) : undefined)
  if (wrong !== undefined) return wrong
  const exported = functionNames({ register, unregister, handler })
  const declared = {
    kind,
    hooks: namesIn(hooks),
    actions: namesIn(actions),
    exports: exported,
    channels: namesIn(channels),
    retry,
    actionDefinitions,
    flows: flows === undefined ? undefined : describeFlows(bot['flows']),
  }
  return accepted(declared)
}

/**
 * The flows of the code with each function as an expression with its text. Flows that were uploaded beside the code are
 * known already.
 */
function describeFlows(flows: unknown): unknown {
  if (flows === undefined) return undefined
  const text = stringify(flows, (_name, value: unknown) =>
    typeof value === 'function' ? record({ $: sliceText(functionToText(value), 0, functionCharacters) }) : value,
  )
  return text === undefined ? undefined : parse(text)
}

/**
 * Refuses expressions in the forms of JSON, which code never evaluates: a condition would always hold. The description shows
 * functions in the same form, so the check of flows can't tell them apart.
 */
function wrongFlows(flows: unknown): Declaration | undefined {
  let found: string | undefined
  const look = (_name: string, value: unknown) => {
    if (isObject(value)) {
      const { type, code, $ } = value
      if (typeof $ === 'string') found ??= `{ $: ${quote($)} }`
      else if (type === 'code' && typeof code === 'string') found ??= `code: ${quote(code)}`
    }
    return value
  }
  try {
    stringify(flows, look)
  } catch (error) {
    return noJson('exports.flows', flows, error)
  }
  if (found === undefined) return undefined
  return refusal(`exports.flows has ${found}, a form of flows in JSON: in code, a function takes its place`)
}

function quote(text: string): string {
  return stringify(sliceText(text, 0, maxNameCharacters))
}

/** An SDK bundle declares its capabilities only to its own `handler`. */
function sdkDeclaration({ handler }: BotExports): Declaration {
  const kind = typeof handler === 'function' ? 'sdk' : 'native'
  return accepted({ kind, hooks: [], actions: [], exports: functionNames({ handler }), channels: [] })
}

function accepted(declared: object): Declaration {
  try {
    return { accepted: true, text: stringify(record(declared)) }
  } catch (error) {
    return noJson('exports', declared, error)
  }
}

function noJson(name: string, value: unknown, thrown: unknown): Declaration {
  return refusal(`${name} cannot be converted to JSON: ${reasonOf(value, name, thrown)}`)
}

/** The names of the exported functions, as the keys of an object. */
function functionNames(exported: Record<string, unknown>): string[] {
  const functions: Record<string, unknown> = record({})
  const names = keys(exported)
  for (let index = 0; index < names.length; index += 1) {
    if (typeof exported[names[index]!] === 'function') functions[names[index]!] = true
  }
  return keys(functions)
}

/**
 * A module exports at least one of the names that the platform reads. A module with none of them was exported in
 * another way.
 */
function nothingExported(bot: BotExports): Declaration | undefined {
  const { hooks, actions, channels, register, unregister, handler } = bot
  if ((hooks ?? actions ?? channels ?? register ?? unregister ?? handler) !== undefined) return undefined
  return refusal(
    `The module exports ${exportedNames(bot)}. A bot exports at least one of hooks and actions; an integration, of ` +
      'register, unregister, handler, actions and channels. For instance: export const hooks = { … }',
  )
}

/** Describes the exports of a module that the platform does not read. */
function exportedNames(bot: BotExports): string {
  const names = keys(bot)
  if (names.length === 0) return 'nothing'
  let list = ''
  for (let index = 0; index < names.length && index < maxNames; index += 1) {
    list += `${index === 0 ? '' : ', '}${sliceText(names[index]!, 0, maxNameCharacters)}`
  }
  return `nothing that the platform calls, but ${list}${names.length > maxNames ? ' and others' : ''}`
}

function wrongGroup(name: string, group: unknown): Declaration | undefined {
  if (group === undefined || (isObject(group) && !isArray(group))) return undefined
  return refusal(`exports.${name} must be an object of functions`)
}

function wrongFunction(name: string, value: unknown): Declaration | undefined {
  if (value === undefined || typeof value === 'function') return undefined
  return refusal(`exports.${name} must be a function`, name)
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

function wrongChannel(channels: unknown): Declaration | undefined {
  const names = namesIn(channels)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const value = (channels as Record<string, unknown>)[name]
    if (!isChannel(value))
      return refusal(`exports.channels.${name} must be a function, or have functions in its messages`, name)
  }
  return undefined
}

function isChannel(value: unknown): boolean {
  if (typeof value === 'function') return true
  const messages = isObject(value) && hasOwn(value, 'messages') ? value['messages'] : undefined
  if (!isObject(messages)) return false
  const types = keys(messages)
  for (let index = 0; index < types.length; index += 1) if (typeof messages[types[index]!] !== 'function') return false
  return true
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
