import { Script } from 'node:vm'
import { maxExpression } from '#shared/flows/fields.ts'
import type { Report } from './report.ts'

/** Where a text of the original stands. */
export interface Place {
  file: string
  node?: string | undefined
}

/** The roots of v12’s paths. */
const roots = new Set(['event', 'user', 'session', 'temp', 'bot', 'workflow', 'conversation', 'env'])

/** Names of v12 by the names here. The variables of a choice have names that are no identifiers. */
function rename(text: string): string {
  return text
    .replaceAll(/\bevent\.state\.temp\b/g, 'temp')
    .replaceAll(/\btemp\[(["'])(skill-[\w-]+)\1\]/g, (_all, _quote, name: string) => `temp.${variableName(name)}`)
    .replaceAll(/\bevent\.type\b/g, 'event.payload.type')
    .replaceAll(/\bBOT_URL\b/g, 'env.BOT_URL')
}

export function variableName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, '_')
}

/** A template of v12 as one of this platform. */
export function toTemplate(text: string, { file, node }: Place, report: Report): string {
  return text.replaceAll(/\{\{\{?([^{}]*)\}?\}\}/g, (all, given: string) => {
    const inner = rename(given.trim().replace(/^&\s*/, ''))
    if (inner.startsWith('!')) return ''
    if (/^[A-Za-z_$][\w$]*(?:\.[\w$]+)*$/.test(inner)) return `{{ ${inner} }}`
    const [root = '', ...names] = inner.split('.')
    if (roots.has(root) && names.length > 0 && !/[#^/>()[\]"'`\\]/.test(inner)) {
      return `{{ ${root}${names.map((name) => `?.[${JSON.stringify(name)}]`).join('')} }}`
    }
    report.lost(file, node, `the template ${all}`, 'Compute the text in a `code` card, and write its variable here')
    return ''
  })
}

/** A value whose texts are templates of v12. */
export function toTemplates(value: unknown, place: Place, report: Report): unknown {
  if (typeof value === 'string') return toTemplate(value, place, report)
  if (Array.isArray(value)) return value.map((item) => toTemplates(item, place, report))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toTemplates(item, place, report)]))
}

export interface Expression {
  $: string
}

/** A condition of v12: reading a property of nothing makes it false. */
export function toCondition(text: string, { file, node }: Place, report: Report): Expression {
  const remedy = 'Write it again as an expression: until then it is false'
  const condition = rename(text)
  if (/^lastNode\s*=[^=]/.test(condition)) {
    report.lost(file, node, `the condition ${text}`, remedy)
    return { $: 'false' }
  }
  const $ = isSimple(condition)
    ? condition
    : `(() => { try { return (${condition}\n) } catch (error) { if (error instanceof TypeError) return false; throw error } })()`
  if ($.length <= maxExpression && parses(condition) && parses($)) return { $ }
  const problem = $.length > maxExpression ? 'it is too long' : 'it does not parse'
  report.lost(file, node, `the condition ${text}: ${problem}`, remedy)
  return { $: 'false' }
}

/** Whether evaluation cannot throw: a comparison of a variable with a literal. */
function isSimple(condition: string): boolean {
  return (
    /^\(?(?:temp|session|user|bot|workflow)\.\w+ *(?:[!=]==? *(?:"[^"\\\n]*"|'[^'\\\n]*'|\d+|true|false|null|undefined))?\)?$/.test(
      condition,
    ) && parses(condition)
  )
}

/** Whether a text is an expression. It is parsed, never run. */
function parses(text: string): boolean {
  try {
    void new Script(`([${text}\n])`)
    return true
  } catch {
    return false
  }
}
