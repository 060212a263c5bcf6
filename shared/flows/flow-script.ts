import { maxExpression } from './fields.ts'
import type { FlowProblem } from './check-flows.ts'

/**
 * Flows as a script: an array literal with a function in the place of each expression, template and code card. It is
 * part of the bot's script, so expressions are evaluated in the bot's isolate only.
 *
 * Each node is made by a function when a conversation first comes there: V8 compiles no other nodes, so a bot of 3,000
 * cards loads in 18 ms instead of 29.
 */
export interface FlowScript {
  text: string
  /** The place of the expression at a line from 1, or of the last one before. */
  placeOf(line: number): Omit<FlowProblem, 'problem'> | undefined
}

/** The names that an expression finds. */
export const expressionNames = 'event, user, conversation, session, bot, temp, workflow, env, now, value'.split(', ')

/** The names that a code card finds. */
const codeNames = [...expressionNames.filter((name) => name !== 'value'), 'state', 'client', 'logger']

/** The parameter of a function, with those of the names that its text has; escapes and `eval` may spell any. */
function parameterOf(text: string, names: readonly string[]): string {
  const mayHaveAny = /\\|eval/.test(text)
  return `{${names.filter((name) => mayHaveAny || text.includes(name)).join(',')}}`
}

interface Named {
  id: string
}

/** @param flows valid JSON of flows, which need not be checked yet: everything unknown becomes a literal */
export function writeFlowScript(flows: readonly unknown[]): FlowScript {
  const lines: string[] = []
  const places = new Map<number, Omit<FlowProblem, 'problem'>>()
  let line = ''
  const add = (text: string) => (line += text)
  const end = () => {
    lines.push(line)
    line = ''
  }

  /** Writes a function on lines of its own, so that an error of the compiler names a line of it. */
  const addFunction = (head: string, body: string, tail: string, place: Omit<FlowProblem, 'problem'>) => {
    end()
    const first = lines.length + 1
    for (const each of `${head}${body}\n${tail}`.split('\n')) lines.push(each)
    for (let number = first; number <= lines.length; number += 1) places.set(number, place)
  }

  const addValue = (value: unknown, place: Omit<FlowProblem, 'problem'>, hasTemplates: boolean) => {
    if (typeof value === 'string') return hasTemplates ? addText(value, place) : add(JSON.stringify(value))
    if (Array.isArray(value)) {
      add('[')
      for (const item of value) {
        addValue(item, place, hasTemplates)
        add(',')
      }
      return add(']')
    }
    if (typeof value !== 'object' || value === null) return add(JSON.stringify(value) ?? 'null')
    if (isExpression(value))
      return addFunction(`(${parameterOf(value.$, expressionNames)}) => ([`, value.$, '][0])', place)
    add('{')
    for (const [key, item] of Object.entries(value)) {
      add(`[${JSON.stringify(key)}]:`)
      addValue(item, place, hasTemplates)
      add(',')
    }
    add('}')
  }

  const addText = (text: string, place: Omit<FlowProblem, 'problem'>) => {
    const parts = splitTemplate(text)
    if (parts.length === 1 && typeof parts[0] === 'string') return add(JSON.stringify(text))
    // A template reads paths safely and converts values to text in the interpreter.
    add('{$template:[')
    for (const part of parts) {
      if (typeof part === 'string') add(JSON.stringify(part))
      else if (isPath(part.expression)) add(JSON.stringify({ path: part.expression.trim().split('.') }))
      else addFunction(`(${parameterOf(part.expression, expressionNames)}) => ([`, part.expression, '][0])', place)
      add(',')
    }
    add(']}')
  }

  const addCard = (card: Record<string, unknown>, place: Omit<FlowProblem, 'problem'>) => {
    add('{')
    for (const [field, value] of Object.entries(card)) {
      const where = { ...place, field }
      add(`[${JSON.stringify(field)}]:`)
      const isLiteral = literalFields.has(field) || card['type'] === 'comment'
      if (card['type'] === 'code' && field === 'code' && typeof value === 'string') {
        addFunction(`async (${parameterOf(value, codeNames)}) => {`, value, '}', where)
      } else addValue(value, where, !isLiteral)
      add(',')
    }
    add('}')
  }

  add('[')
  for (const flow of flows) {
    const { id, nodes, ...others } = flow as { nodes?: unknown } & Named
    add(`{id:${JSON.stringify(id)},`)
    for (const [field, value] of Object.entries(others)) {
      add(`[${JSON.stringify(field)}]:`)
      addValue(value, { flow: id, field }, false)
      add(',')
    }
    add('nodes:[')
    for (const node of listOf(nodes)) {
      const { cards, ...rest } = node as { cards?: unknown } & Named
      const place = { flow: id, node: rest.id }
      add(`{id:${JSON.stringify(rest.id)},make:()=>({...${JSON.stringify(rest)},cards:[`)
      for (const card of listOf(cards)) {
        addCard(card as Record<string, unknown>, { ...place, card: (card as Named).id })
        add(',')
      }
      add(']})},')
    }
    add(']},')
  }
  add(']')
  end()
  return {
    text: lines.join('\n'),
    // A bracket too many is noticed after the expression.
    placeOf(number) {
      for (let at = number; at > 0; at -= 1) if (places.has(at)) return places.get(at)
      return undefined
    },
  }
}

/** Fields whose texts are no templates. */
const literalFields = new Set([
  'id',
  'type',
  'ports',
  'variable',
  'output',
  'flow',
  'to',
  'cancel',
  'action',
  'remove',
  'schema',
  'model',
])

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
}

function isExpression(value: object): value is { $: string } {
  const { $ } = value as { $?: unknown }
  return typeof $ === 'string' && Object.keys(value).length === 1 && $.length <= maxExpression
}

/** A text, split at `{{ expression }}`. */
function splitTemplate(text: string): (string | { expression: string })[] {
  const parts: (string | { expression: string })[] = []
  let from = 0
  while (from < text.length) {
    const start = text.indexOf('{{', from)
    const stop = start < 0 ? -1 : text.indexOf('}}', start)
    if (stop < 0) break
    if (start > from) parts.push(text.slice(from, start))
    parts.push({ expression: text.slice(start + 2, stop) })
    from = stop + 2
  }
  if (from < text.length || parts.length === 0) parts.push(text.slice(from))
  return parts
}

/** The paths in the templates of a card, for instance `user.name`. */
export function pathsOfCard(card: Record<string, unknown>): string[] {
  if (card['type'] === 'comment') return []
  const paths: string[] = []
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const part of splitTemplate(value)) {
        if (typeof part !== 'string' && isPath(part.expression)) paths.push(part.expression.trim())
      }
    } else if (typeof value === 'object' && value !== null && !isExpression(value))
      Object.values(value).forEach(collect)
  }
  for (const [field, value] of Object.entries(card)) {
    if (!literalFields.has(field) && !(card['type'] === 'code' && field === 'code')) collect(value)
  }
  return paths
}

/** For instance `user.name` or `event.payload.items.0`. */
function isPath(text: string): boolean {
  return /^\s*[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*$/.test(text)
}
