import { maxExpression } from './fields.ts'
import type { FlowPlace } from './check-flows.ts'
import { ScriptText } from './script-text.ts'

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
  placeOf(line: number): FlowPlace | undefined
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
  const script = new ScriptText()
  script.add('[')
  for (const flow of flows) addFlow(script, flow as Named)
  script.add(']')
  return { text: script.finish(), placeOf: (line) => script.placeOf(line) }
}

function addFlow(script: ScriptText, { id, nodes, ...others }: Named & { nodes?: unknown }): void {
  script.add(`{id:${JSON.stringify(id)},`)
  for (const [field, value] of Object.entries(others)) {
    script.add(`[${JSON.stringify(field)}]:`)
    addValue(script, value, { flow: id, field }, false)
    script.add(',')
  }
  script.add('nodes:[')
  for (const node of listOf(nodes)) {
    const { cards, ...rest } = node as Named & { cards?: unknown }
    script.add(`{id:${JSON.stringify(rest.id)},make:()=>({...${JSON.stringify(rest)},cards:[`)
    for (const card of listOf(cards)) {
      addCard(script, card as Record<string, unknown>, { flow: id, node: rest.id, card: (card as Named).id })
      script.add(',')
    }
    script.add(']})},')
  }
  script.add(']},')
}

function addCard(script: ScriptText, card: Record<string, unknown>, place: FlowPlace): void {
  script.add('{')
  for (const [field, value] of Object.entries(card)) {
    const where = { ...place, field }
    script.add(`[${JSON.stringify(field)}]:`)
    if (card['type'] === 'code' && field === 'code' && typeof value === 'string') {
      script.addFunction(`async (${parameterOf(value, codeNames)}) => {`, value, '}', where)
    } else addValue(script, value, where, card['type'] !== 'comment' && !literalFields.has(field))
    script.add(',')
  }
  script.add('}')
}

function addValue(script: ScriptText, value: unknown, place: FlowPlace, hasTemplates: boolean): void {
  if (typeof value === 'string' && hasTemplates) return addTemplate(script, value, place)
  if (Array.isArray(value)) {
    script.add('[')
    for (const item of value) {
      addValue(script, item, place, hasTemplates)
      script.add(',')
    }
    return script.add(']')
  }
  if (typeof value !== 'object' || value === null) return script.add(JSON.stringify(value) ?? 'null')
  if (isExpression(value)) return addExpression(script, value.$, place)
  script.add('{')
  for (const [key, item] of Object.entries(value)) {
    script.add(`[${JSON.stringify(key)}]:`)
    addValue(script, item, place, hasTemplates)
    script.add(',')
  }
  script.add('}')
}

function addTemplate(script: ScriptText, text: string, place: FlowPlace): void {
  const parts = splitTemplate(text)
  if (parts.length === 1 && typeof parts[0] === 'string') return script.add(JSON.stringify(text))
  // A template reads paths safely and converts values to text in the interpreter.
  script.add('{$template:[')
  for (const part of parts) {
    if (typeof part === 'string') script.add(JSON.stringify(part))
    else if (isPath(part.expression)) script.add(JSON.stringify({ path: part.expression.trim().split('.') }))
    else addExpression(script, part.expression, place)
    script.add(',')
  }
  script.add(']}')
}

function addExpression(script: ScriptText, expression: string, place: FlowPlace): void {
  script.addFunction(`(${parameterOf(expression, expressionNames)}) => ([`, expression, '][0])', place)
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

/** The templates of a card: paths, for instance `user.name`, and other expressions. */
export function templatesOfCard(card: Record<string, unknown>): { paths: string[]; expressions: string[] } {
  const [paths, expressions]: [string[], string[]] = [[], []]
  if (card['type'] === 'comment') return { paths, expressions }
  const collect = (value: unknown): void => {
    if (typeof value === 'string') {
      for (const part of splitTemplate(value)) {
        if (typeof part === 'string') continue
        const list = isPath(part.expression) ? paths : expressions
        list.push(part.expression.trim())
      }
    } else if (typeof value === 'object' && value !== null && !isExpression(value))
      Object.values(value).forEach(collect)
  }
  for (const [field, value] of Object.entries(card)) {
    if (!literalFields.has(field) && !(card['type'] === 'code' && field === 'code')) collect(value)
  }
  return { paths, expressions }
}

/** For instance `user.name` or `event.payload.items.0`. */
function isPath(text: string): boolean {
  return /^\s*[A-Za-z_$][\w$]*(?:\.[\w$]+)*\s*$/.test(text)
}
