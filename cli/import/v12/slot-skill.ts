import { messagesOf } from './content.ts'
import { toNode, type NewCard } from './conversion.ts'
import { ownAction } from './instructions.ts'
import { toText, toTexts } from './json.ts'
import type { Skill } from './skill.ts'

/** Kinds of answers by the system entities of v12. */
const kinds: Readonly<Record<string, string>> = {
  any: 'any',
  number: 'number',
  email: 'email',
  phoneNumber: 'phone',
  url: 'url',
}

/** A slot: a `capture` card, its validation, and the variables by which v12 tells the outcome. */
export function addSlot({ conversion, links, builder, node, id, data, place }: Skill, before: NewCard[]): void {
  const { report } = conversion.bot
  const base = id.slice(0, 50)
  const [askId, checkId, routeId, knownId] = ['ask', 'check', 'route', 'known'].map((part) => `${base}__${part}`) as [
    string,
    string,
    string,
    string,
  ]
  const slot = JSON.stringify(toText(data['slotName']))
  const entities = [...toTexts(data['entities']), toText(data['entities'])].filter((each) => each !== '')
  const kind = entities.flatMap((each) => (Object.hasOwn(kinds, each) ? [kinds[each]!] : []))[0]
  if (kind === undefined) {
    report.lost(
      place.file,
      place.node,
      `the entities ${entities.join(', ')} of slot ${slot}`,
      'The card accepts any answer: set its `kind` or `validate`',
    )
  }
  const question = messagesOf(conversion, toText(data['contentElement']), place)
  const notFound = toText(data['notFoundElement'])
  const sorry = notFound === '' ? undefined : messagesOf(conversion, notFound, place)
  const retries = Math.max(0, Math.min(10, Math.floor(Number(data['retryAttempts']) || 0)))
  const validation = toText(data['validationAction'])
  const action = conversion.actionIds.get(validation)
  if (validation !== '' && action === undefined) {
    report.lost(place.file, place.node, `the validation by ${validation}`, 'Set `validate` of the `capture` card')
  }
  const clear: NewCard = { type: 'set', remove: ['temp.extracted', 'temp.notExtracted', 'temp.alreadyExtracted'] }
  const condition: NewCard = {
    type: 'condition',
    if: { $: `session.slots?.[${slot}] !== undefined` },
    ports: { true: knownId, false: askId },
  }
  builder.add(toNode(id, node.name, [...before, clear, condition], askId))
  builder.add(toNode(knownId, undefined, [flags('alreadyExtracted')], routeId))
  const failedId = `${base}__not_found`
  const capture: NewCard = {
    type: 'capture',
    ...question?.messages,
    variable: 'temp.v12_slot',
    ...(kind !== undefined && kind !== 'any' && { kind }),
    retries,
    ...(sorry && { retryMessage: sorry.messages.message ?? sorry.messages.variants![0]! }),
    ports: { failed: failedId },
  }
  const store: NewCard = {
    type: 'code',
    code:
      `session.slots = { ...session.slots, [${slot}]: { name: ${slot}, value: temp.v12_slot, timestamp: now.getTime(), turns: 0 } }\n` +
      'delete temp.v12_slot',
  }
  const checks: NewCard[] =
    action === undefined
      ? []
      : [
          ...ownAction(conversion, validation, action, {}, place),
          {
            type: 'condition',
            if: { $: 'temp.valid === undefined || temp.valid == "true"' },
            ports: { false: checkId },
          },
        ]
  builder.add(toNode(askId, undefined, [capture, store, ...checks, flags('extracted')], routeId))
  if (action !== undefined) {
    const again = { $: '(temp.v12_tries ?? 0) + 1' }
    const isLast: NewCard = {
      type: 'condition',
      if: { $: `temp.v12_tries > ${retries}` },
      ports: { true: failedId, false: askId },
    }
    const forget: NewCard = { type: 'code', code: `delete session.slots[${slot}]` }
    builder.add(
      toNode(
        checkId,
        undefined,
        [
          { type: 'set', values: { 'temp.v12_tries': again }, remove: ['temp.valid'] },
          forget,
          ...(sorry ? [{ type: 'say', ...sorry.messages }] : []),
          isLast,
        ],
        askId,
      ),
    )
  }
  builder.add(toNode(failedId, undefined, [flags('notExtracted')], routeId))
  const routed = links.route(node.next, node.name, routeId)
  builder.add(toNode(routeId, undefined, routed.cards, routed.next))
}

/** A card that sets a variable of v12’s skill. */
function flags(name: string): NewCard {
  return { type: 'set', values: { [`temp.${name}`]: 'true' } }
}
