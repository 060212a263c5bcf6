import type { Conversion, NewCard } from './conversion.ts'
import { contentCard } from './content.ts'
import { toTemplate, toTemplates, type Place } from './expressions.ts'
import { parseJson, toFields, toText, type Fields } from './json.ts'
import { setVariable } from './variables.ts'
import { applyAction } from './code.ts'

/** An instruction: the name of an action, and its arguments. */
interface Instruction {
  name: string
  parameters: Fields
}

/** Actions of the skills that have no effect here, because a card does their work. */
const silent = new Set(['slot_update_contexts', 'slot_reset_contexts'])

/** The cards of a node’s instructions. */
export function instructionCards(conversion: Conversion, texts: readonly string[], place: Place): NewCard[] {
  return texts.flatMap((text) => {
    const content = /^say #!(\S+)/.exec(text)
    if (content) return contentCard(conversion, content[1]!, place)
    const rendered = /^say #(\S+)\s*(\{[^]*)?$/.exec(text)
    if (rendered) return contentCard(conversion, rendered[1]!, place, rendered[2])
    const instruction = readInstruction(conversion, text, place)
    return instruction === undefined ? [] : actionCards(conversion, instruction, text, place)
  })
}

function readInstruction(
  { bot: { report } }: Conversion,
  text: string,
  { file, node }: Place,
): Instruction | undefined {
  const space = text.indexOf(' ')
  const name = space < 0 ? text : text.slice(0, space)
  try {
    return { name, parameters: space < 0 ? {} : toFields(parseJson(text.slice(space + 1) || '{}')) }
  } catch {
    report.lost(file, node, `the instruction ${text}: its arguments are no JSON`, 'Add a card for it')
    return undefined
  }
}

function actionCards(conversion: Conversion, { name, parameters }: Instruction, text: string, place: Place): NewCard[] {
  const { bot, actionIds } = conversion
  const { report } = bot
  const { file, node } = place
  const lost = (remedy: string) => {
    report.lost(file, node, `the instruction ${text}`, remedy)
    return []
  }
  const own = name.replace(/^[^:/\s]+:/, '')
  const id = actionIds.get(own)
  if (id !== undefined) return ownAction(conversion, own, id, parameters, place)
  const short = name.replace(/^(?:builtin|basic-skills)\//, '')
  const output = toText(parameters['output'])
  const key = toText(parameters['name'])
  switch (short) {
    case 'setVariable':
      return setVariable(conversion, parameters, place)
    case 'removeVariable':
    case 'unsetVariable':
      return setVariable(conversion, { ...parameters, value: '' }, place)
    case 'setGlobalVariable': {
      if (toText(parameters['expiry']) !== '')
        report.differs(file, node, `the expiry of ${key}`, 'The variable of the bot stays')
      const cards = setVariable(conversion, { type: 'bot', name: `global_${key}`, value: parameters['value'] }, place)
      return output === ''
        ? cards
        : [...cards, ...setVariable(conversion, { type: 'temp', name: output, value: parameters['value'] }, place)]
    }
    case 'getGlobalVariable':
      return setVariable(conversion, { type: 'temp', name: output }, place, {
        $: `bot[${JSON.stringify(`global_${key}`)}] ?? null`,
      })
    case 'resetGlobalVariable':
      return setVariable(conversion, { type: 'bot', name: `global_${key}`, value: '' }, place)
    case 'getNumberOfConversations':
      return setVariable(conversion, { type: 'temp', name: output }, place, { $: 'user.numberOfConversations ?? null' })
    case 'incrementNumberOfConversations': {
      const count = { $: 'user.numberOfConversations === undefined ? 0 : user.numberOfConversations + 1' }
      const counted = setVariable(conversion, { type: 'user', name: 'numberOfConversations' }, place, count)
      const copy = { $: 'user.numberOfConversations' }
      return output === ''
        ? counted
        : [...counted, ...setVariable(conversion, { type: 'temp', name: output }, place, copy)]
    }
    case 'switchLanguage':
      return setVariable(
        conversion,
        { type: 'user', name: 'language', value: toText(parameters['lang']).toLowerCase() },
        place,
      )
    case 'wait':
      return wait(parameters, lost)
    case 'resetSession':
      return [
        {
          type: 'code',
          code: 'for (const part of [temp, session]) for (const name of Object.keys(part)) delete part[name]',
        },
      ]
    case 'slot_reset':
      return [
        {
          type: 'code',
          code: `if (session.slots) delete session.slots[${JSON.stringify(toText(parameters['slotName']))}]`,
        },
      ]
    case 'hitlnext/handoff':
      return [{ type: 'handover' }]
    case 'appendContext':
    case 'removeContext':
    case 'resetContext':
      return lost('Contexts of language understanding do not exist: use variables in conditions')
    default:
      if (silent.has(short)) return []
      return lost(
        /\.http$|^[^:/]+:/.test(name)
          ? 'Action servers do not exist: add the action to bot.ts'
          : 'Add the action to bot.ts, and an `action` card here',
      )
  }
}

function wait(parameters: Fields, lost: (remedy: string) => NewCard[]): NewCard[] {
  const given = toText(parameters['delay'])
  const milliseconds = given === '' ? 1000 : Number(given)
  if (!Number.isFinite(milliseconds) || milliseconds < 0) return lost('Add a `wait` card')
  return [{ type: 'wait', seconds: Math.min(milliseconds / 1000, 366 * 24 * 60 * 60) }]
}

/** The card of an own action, and one that brings the variables that it has changed into the flow. */
export function ownAction(
  conversion: Conversion,
  name: string,
  id: string,
  parameters: Fields,
  place: Place,
): NewCard[] {
  const { report } = conversion.bot
  if (conversion.brokenActions.has(name)) {
    report.lost(
      place.file,
      place.node,
      `the action ${name}, which cannot run here`,
      'Write the action again: its file has the original',
    )
  }
  const values = Object.fromEntries(
    Object.entries(parameters).map(([key, value]) => [
      key,
      typeof value === 'string' ? toTemplate(value, place, report) : toTemplates(value, place, report),
    ]),
  )
  const parts = ['temp', 'session', 'user', 'bot', 'workflow'].map((part) => [part, { $: part }])
  return [
    { type: 'action', action: id, input: { args: values, ...Object.fromEntries(parts) }, output: 'temp.v12' },
    applyAction(conversion, name),
  ]
}
