import { messagesOf } from './content.ts'
import { toNode, type Conversion, type NewCard } from './conversion.ts'
import { toTemplates, variableName, type Place } from './expressions.ts'
import { isRefusedName, toFields, toList, toText, toTexts, type Fields } from './json.ts'
import type { Links } from './links.ts'
import { addTransitions, type Skill } from './skill.ts'
import type { V12Node } from './v12-flow.ts'

/** A choice: its flow and the transitions of its node become one card. */
export function addChoice({ conversion, links, builder, node, id, data, place }: Skill, before: NewCard[]): void {
  const { report } = conversion.bot
  const found = messagesOf(conversion, toText(data['contentId']), place)
  const config = toFields(data['config'])
  const suffix = toText(config['variableName']) || toText(data['randomId'])
  const result = variableName(`skill-choice-ret${suffix === '' ? '' : `-${suffix}`}`).slice(0, 90)
  const options = optionsOf(
    skillOptions(found?.fields, conversion, place),
    toFields(data['keywords']),
    place,
    conversion,
  )
  const after = links.transitionsOf(node.name) ?? null
  if (options.length === 0) {
    report.lost(place.file, place.node, 'a choice without options', 'Add a `choice` card')
    const routed = links.route(node.next, node.name, after)
    builder.add(toNode(id, node.name, [...before, ...routed.cards], routed.next))
    return
  }
  if (config['repeatChoicesOnInvalid'] !== true) {
    report.differs(
      place.file,
      place.node,
      'the question is not repeated after an unknown answer',
      'The `choice` card repeats it',
    )
  }
  const invalid = toText(data['invalidContentId'])
  const sorry = invalid.length >= 3 ? messagesOf(conversion, invalid, place) : undefined
  const tries = Number(config['nbMaxRetries'] ?? 3)
  const question = found ? asQuestion(found.messages) : { message: '…' }
  const card: NewCard = {
    type: 'choice',
    ...question,
    options,
    ...(found?.fields['isDropdown'] === true && { as: 'dropdown' }),
    retries: Number.isFinite(tries) ? Math.max(0, Math.min(10, Math.floor(tries))) : 3,
    ...(sorry && { retryMessage: sorry.messages.message ?? sorry.messages.variants![0]! }),
    variable: `temp.${result}`,
  }
  const ports = portsOf(skillPorts(node, result), options, links, node.name, after)
  if (ports) builder.add(toNode(id, node.name, [...before, { ...card, ports }], null))
  else {
    const routed = links.route(node.next, node.name, after)
    builder.add(toNode(id, node.name, [...before, card, ...routed.cards], routed.next))
  }
  addTransitions(links, node, after)
}

interface Option {
  label: string
  value: string
  words?: string[]
}

function skillOptions(fields: Fields | undefined, { bot: { report } }: Conversion, place: Place): Fields[] {
  return toList(fields?.['choices'] ?? fields?.['options']).map((each) => toFields(toTemplates(each, place, report)))
}

/** The options of the element, and the words of the skill that match each. */
function optionsOf(
  shown: Fields[],
  keywords: Fields,
  { file, node }: Place,
  { bot: { report } }: Conversion,
): Option[] {
  const options = new Map<string, Option>()
  for (const each of shown.slice(0, 100)) {
    const label = (toText(each['title']) || toText(each['label']) || toText(each['value'])).slice(0, 500)
    const value = toText(each['value']) || label
    if (label !== '' && value.length <= 200 && !isRefusedName(value)) options.set(value, { label, value })
    else report.lost(file, node, `the option ${value}`, 'An option has a label, and a value of at most 200 characters')
  }
  for (const [value, given] of Object.entries(keywords)) {
    const words = toTexts(given)
    if (words.some((word) => word.startsWith('intent:'))) {
      report.lost(file, node, `the intents of option ${value}`, 'Add words to the option')
    }
    if (value === '' || value.length > 200 || options.size >= 100) continue
    const option = options.get(value) ?? { label: value, value }
    const own = words.filter(
      (word) => word !== '' && word !== value && word !== option.label && !word.startsWith('intent:'),
    )
    const usable = own.filter((word) => word.length <= 200).slice(0, 100)
    options.set(value, { ...option, ...(usable.length > 0 && { words: usable }) })
  }
  return [...options.values()]
}

function questionText(message: unknown) {
  const words = toText(typeof message === 'string' ? message : toFields(message)['text'])
  return words === '' ? '…' : words.length > 4096 ? { type: 'text', text: words } : words
}

/** The text of an element with options: the card adds the options. */
function asQuestion(messages: NonNullable<ReturnType<typeof messagesOf>>['messages']) {
  return {
    ...(messages.message !== undefined && { message: questionText(messages.message) }),
    ...(messages.variants && { variants: messages.variants.map(questionText) }),
    ...(messages.translations && {
      translations: Object.fromEntries(
        Object.entries(messages.translations).map(([name, each]) => [name, questionText(each)]),
      ),
    }),
  }
}

/** The targets by option; undefined when a transition has another condition. */
function skillPorts({ next }: V12Node, result: string): { value: string | undefined; target: string }[] | undefined {
  const ports: { value: string | undefined; target: string }[] = []
  for (const { condition, target } of next) {
    if (['true', 'always', ''].includes(condition)) return [...ports, { value: undefined, target }]
    const [, name, quoted] = /^temp\[['"]([\w-]+)['"]\]\s*={2,3}\s*("(?:[^"\\]|\\.)*"|'[^'\\]*')$/.exec(condition) ?? []
    if (name === undefined || quoted === undefined || variableName(name).slice(0, 90) !== result) return undefined
    try {
      ports.push({ value: quoted.startsWith("'") ? quoted.slice(1, -1) : toText(JSON.parse(quoted)), target })
    } catch {
      return undefined
    }
  }
  return ports
}

function portsOf(
  given: ReturnType<typeof skillPorts>,
  options: readonly Option[],
  links: Links,
  from: string,
  after: string | null,
): Record<string, string | null> | undefined {
  if (!given) return undefined
  const fallback = given.find(({ value }) => value === undefined)
  const otherwise = fallback ? links.to(fallback.target, from, after) : links.end()
  const ports: Record<string, string | null> = {}
  for (const { value } of options) {
    const own = given.find((each) => each.value === value)
    ports[value] = own ? links.to(own.target, from, after) : otherwise
  }
  return { ...ports, other: ports['other'] ?? otherwise }
}
