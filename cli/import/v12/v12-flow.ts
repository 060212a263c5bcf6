import { toFields, toList, toText, toTexts, type Fields } from './json.ts'
import type { Report } from './report.ts'

export interface Transition {
  condition: string
  /** A node, a flow, `END`, `#` and its forms, or nothing. */
  target: string
}

export interface V12Node {
  id: string
  name: string
  type: string
  onEnter: string[]
  /** A list, even an empty one: the node waits for a message. */
  onReceive: string[] | undefined
  next: Transition[]
  /** Of a node that runs a skill. */
  skill: string
  flow: string
}

export interface V12Flow {
  /** Path below `flows/`. */
  name: string
  file: string
  start: string
  nodes: V12Node[]
  catchAll: { onReceive: string[]; next: Transition[] }
  skillData: Fields
  isSkill: boolean
}

const maxNodes = 300
const maxTransitions = 90
/** Longer than the name of any flow or node: patterns that read it try each part of it. */
const maxTarget = 1000
const knownTypes = new Set(['', 'standard', 'skill-call'])

/** Reads a flow file; undefined when it cannot be one. Other flows are not affected. */
export function readFlow(name: string, value: unknown, report: Report): V12Flow | undefined {
  const file = `flows/${name}`
  const fields = toFields(value)
  const listed = toList(fields['nodes']).map(toFields)
  if (listed.length === 0) {
    report.lost(file, undefined, 'the flow: it has no nodes', 'Correct the file, and import again')
    return undefined
  }
  if (listed.length > maxNodes) {
    report.lost(
      file,
      undefined,
      `${listed.length - maxNodes} nodes`,
      `Divide the flow: an import reads ${maxNodes} nodes of a flow`,
    )
  }
  const nodes: V12Node[] = []
  const names = new Set<string>()
  for (const each of listed.slice(0, maxNodes)) {
    const nodeName = toText(each['name'])
    if (nodeName === '' || names.has(nodeName)) {
      report.lost(file, nodeName, 'a node without a name of its own', 'Name it, and import again')
      continue
    }
    names.add(nodeName)
    nodes.push(readNode(nodeName, each, file, report))
  }
  const [first] = nodes
  if (!first) return undefined
  const named = toText(fields['startNode'])
  if (!names.has(named)) report.lost(file, undefined, `the start node ${named}`, 'The flow starts at its first node')
  const catchAll = toFields(fields['catchAll'])
  return {
    name,
    file,
    start: names.has(named) ? named : first.name,
    nodes,
    catchAll: {
      onReceive: toTexts(catchAll['onReceive']),
      next: readTransitions(catchAll['next'], file, 'catchAll', report),
    },
    skillData: toFields(fields['skillData']),
    isSkill: name.startsWith('skills/'),
  }
}

function readNode(name: string, fields: Fields, file: string, report: Report): V12Node {
  const type = toText(fields['type'])
  if (!knownTypes.has(type)) {
    report.lost(file, name, `the type of node ${type}`, 'Draw it again with cards: only its instructions were carried')
  }
  const instructions = (value: unknown) => {
    const texts = toTexts(value)
    if (texts.length < toList(value).length) {
      report.lost(file, name, 'an instruction that is no text', 'Add a card for it')
    }
    return texts.slice(0, 100)
  }
  return {
    id: toText(fields['id']),
    name,
    type,
    onEnter: instructions(fields['onEnter']),
    onReceive: Array.isArray(fields['onReceive']) ? instructions(fields['onReceive']) : undefined,
    next: readTransitions(fields['next'], file, name, report),
    skill: toText(fields['skill']),
    flow: toText(fields['flow']),
  }
}

function readTransitions(value: unknown, file: string, node: string, report: Report): Transition[] {
  const list = toList(value).map(toFields)
  if (list.length > maxTransitions) {
    report.lost(file, node, `${list.length - maxTransitions} transitions`, 'Divide the node')
  }
  return list.slice(0, maxTransitions).map((each) => ({
    condition: toText(each['condition']).trim(),
    target: toText(each['node']).trim().slice(0, maxTarget),
  }))
}
