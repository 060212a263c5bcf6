import { hostWithPort } from '#shared/config/granted-host.ts'
import { toNode, type NewCard } from './conversion.ts'
import { toTemplate, toTemplates } from './expressions.ts'
import { parseJson, toFields, toText } from './json.ts'
import type { Skill } from './skill.ts'
import { setVariable } from './variables.ts'

const isHost = new RegExp(`^${hostWithPort}$`)

/** A request: an `http` card, and the variables in which v12 keeps its outcome. */
export function addRequest({ conversion, links, builder, node, id, data, place }: Skill, before: NewCard[]): void {
  const { bot, hosts } = conversion
  const { report } = bot
  const after = `${id.slice(0, 54)}__answered`
  const failedId = `${id.slice(0, 54)}__failed`
  const suffix = toText(data['randomId'])
  const valid = `valid${suffix === '' ? '' : `_${suffix}`}`
  const output = `${toText(data['memory']) || 'temp'}.${toText(data['variable']) || 'response'}`
  const url = toText(data['url'])
  const [, host = ''] = /^https?:\/\/(?:[^/{}\s?#@]*@)?([^/{}\s?#@]+)/i.exec(url) ?? []
  // A host that cannot be granted would have the whole project refused. A pattern of hosts is none.
  if (isHost.test(host.toLowerCase()) && !host.includes('*')) hosts.add(host.toLowerCase())
  else report.differs(place.file, place.node, `the address ${url}`, 'Add its host to "permissions" in isobot.json')
  const method = toText(data['method']).toUpperCase()
  const isKnown = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(method)
  const [named] = setVariable(
    conversion,
    { type: output.split('.')[0], name: output.split('.').slice(1).join('.'), value: 0 },
    place,
  )
  const isVariable = named?.type === 'set' && Object.hasOwn(toFields(named['values']), output)
  if (!isVariable)
    report.lost(place.file, place.node, `the variable ${output}`, 'Choose another name in the `http` card')
  const target = isVariable ? output : 'temp.response'
  const headers = toFields(toTemplates(readBody(data['headers']), place, report))
  const body = readBody(data['body'])
  const request: NewCard = {
    type: 'http',
    url: toTemplate(url, place, report).slice(0, 2000),
    ...(isKnown && { method }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(body !== undefined && body !== '' && method !== 'GET' && { body: toTemplates(body, place, report) }),
    output: target,
    ports: { error: failedId },
  }
  const answered: NewCard = {
    type: 'set',
    values: { [`temp.${valid}`]: { $: `${target}.status >= 200 && ${target}.status < 300` } },
  }
  const failing: NewCard = { type: 'set', values: { [target]: { status: '' }, [`temp.${valid}`]: false } }
  builder.add(toNode(id, node.name, [...before, request, answered], after))
  builder.add(toNode(failedId, undefined, [failing], after))
  const routed = links.route(node.next, node.name, after)
  builder.add(toNode(after, undefined, routed.cards, routed.next))
}

/** A text of JSON as its value; its templates stay texts. */
function readBody(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseJson(value)
  } catch {
    return value
  }
}
