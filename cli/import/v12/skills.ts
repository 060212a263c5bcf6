import { addChoice } from './choice-skill.ts'
import { toNode, type Conversion, type NewCard } from './conversion.ts'
import { instructionCards } from './instructions.ts'
import { toText, type Fields } from './json.ts'
import type { Links } from './links.ts'
import { addRequest } from './request-skill.ts'
import { addTransitions, type Skill } from './skill.ts'
import { addSlot } from './slot-skill.ts'
import type { V12Node } from './v12-flow.ts'

/** Skills of v12 that become cards. Flows of other skills are converted like those of authors. */
export const foldedSkills = new Set(['choice', 'Slot', 'slot', 'CallAPI', 'SendEmail', 'HitlNext'])

/** Adds the nodes of a skill: a card in the place of its flow, and the transitions of the node that calls it. */
export function addSkill(conversion: Conversion, links: Links, node: V12Node, id: string, data: Fields): void {
  const { builder } = links
  const skill = { conversion, links, builder, node, id, data, place: { file: builder.source.file, node: node.name } }
  const before = instructionCards(conversion, node.onEnter, skill.place)
  switch (node.skill) {
    case 'choice':
      return addChoice(skill, before)
    case 'CallAPI':
      return addRequest(skill, before)
    case 'Slot':
    case 'slot':
      return addSlot(skill, before)
    default:
      return addOther(skill, before)
  }
}

function addOther({ conversion, links, builder, node, id, data, place }: Skill, before: NewCard[]): void {
  const { report } = conversion.bot
  const own: NewCard[] = []
  if (node.skill === 'HitlNext') own.push({ type: 'handover' })
  else if (node.skill === 'SendEmail') {
    const to = toText(data['toAddress'])
    report.lost(
      place.file,
      place.node,
      `the e-mail ${to}`,
      'Install an integration that sends e-mail, and call its action',
    )
  }
  const after = links.transitionsOf(node.name) ?? null
  const routed = links.route(node.next, node.name, after)
  builder.add(toNode(id, node.name, [...before, ...own, ...routed.cards], routed.next))
  addTransitions(links, node, after)
}
