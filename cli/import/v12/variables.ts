import { scopes, variable } from '#shared/flows/fields.ts'
import type { Conversion, NewCard } from './conversion.ts'
import { toTemplates, variableName, type Expression, type Place } from './expressions.ts'
import { isRefusedName, toText, type Fields } from './json.ts'

const isVariable = new RegExp(variable.pattern)

/**
 * The card of v12’s `setVariable`: an empty value removes the variable.
 *
 * @param expression the value, in the place of `parameters.value`
 */
export function setVariable(
  { bot: { report } }: Conversion,
  { type, name, value }: Fields,
  place: Place,
  expression?: Expression,
): NewCard[] {
  const scope = toText(type)
  const given = toText(name)
  if (!(scopes as readonly string[]).includes(scope) || given === '' || isRefusedName(given) || given.length > 80) {
    report.lost(place.file, place.node, `the variable ${scope}.${given}`, 'Choose another name, and add a `set` card')
    return []
  }
  const isEmpty = value === '' || value === 'null' || value === undefined
  const named = given.startsWith('skill-') ? variableName(given) : given
  const full = `${scope}.${named}`
  if (isVariable.test(full)) {
    if (expression) return [{ type: 'set', values: { [full]: expression } }]
    return [
      isEmpty
        ? { type: 'set', remove: [full] }
        : { type: 'set', values: { [full]: toTemplates(value, place, report) } },
    ]
  }
  // A name that is no identifier, for instance `first-name`.
  const key = JSON.stringify(given)
  if (isEmpty && !expression) return [{ type: 'code', code: `delete ${scope}[${key}]` }]
  return [
    { type: 'set', values: { 'temp.v12_value': expression ?? toTemplates(value, place, report) } },
    { type: 'code', code: `${scope}[${key}] = temp.v12_value\ndelete temp.v12_value` },
  ]
}
