import { returnVariable, toNode, nodeIdOf, type Conversion, type FlowBuilder, type NewCard } from './conversion.ts'
import { toCondition } from './expressions.ts'
import type { Transition, V12Flow } from './v12-flow.ts'

const end = 'END'

/** Splits `x.flow.json#node`; undefined for a target within the flow. */
export function readFlowTarget(target: string): { flow: string; node: string | undefined } | undefined {
  const [, flow, node] = /^(.+\.flow\.json)(?:#(.*))?$/.exec(target) ?? []
  return flow === undefined ? undefined : { flow, node: node === '' ? undefined : node }
}

/** Whether a flow has a transition that returns to its caller. */
export function returns({ nodes, catchAll }: V12Flow): boolean {
  return [...nodes.flatMap(({ next }) => next), ...catchAll.next].some(({ target }) => target.startsWith('#'))
}

/** Where a node continues: within the flow, at another flow, or at a node made here that calls, returns or ends. */
export class Links {
  readonly conversion: Conversion
  readonly builder: FlowBuilder

  constructor(conversion: Conversion, builder: FlowBuilder) {
    this.conversion = conversion
    this.builder = builder
  }

  /**
   * @param from the name of the original’s node
   * @param after the id of the node that a called flow returns to; null ends
   */
  to(target: string, from: string | undefined, after: string | null): string | null {
    const { bot } = this.conversion
    const { name, file } = this.builder.source
    if (target === '' || target === end) return this.end()
    if (target.startsWith('#')) return this.#return(target, from)
    const other = readFlowTarget(target)
    if (other === undefined) {
      const id = nodeIdOf(this.conversion, name, target)
      if (id !== undefined) return id
      bot.report.lost(file, from, `the transition to ${target}: there is no such node`, 'The conversation ends there')
      return this.end()
    }
    return this.#toFlow(target, other, from, after)
  }

  /** Ends the conversation. */
  end(): string | null {
    const { hasEnd } = this.conversion
    if (hasEnd && this.builder.id !== 'end') {
      return this.builder.share(end, 'v12_end', (id) => toNode(id, undefined, [{ type: 'end' }], null))
    }
    return this.#isCalled ? this.#leaveWith(end, 'v12_end') : null
  }

  /** The routes of transitions: cards for the node, and where it continues after them. */
  route(
    transitions: readonly Transition[],
    from: string,
    after: string | null,
  ): { cards: NewCard[]; next: string | null } {
    const { file } = this.builder.source
    const cases: { port: string; if: unknown }[] = []
    const ports: Record<string, string | null> = {}
    let otherwise: string | null | undefined
    for (const { condition, target } of transitions) {
      if (['true', 'always', ''].includes(condition)) {
        otherwise = this.to(target, from, after)
        break
      }
      const port = `case_${cases.length + 1}`
      cases.push({ port, if: toCondition(condition, { file, node: from }, this.conversion.bot.report) })
      ports[port] = this.to(target, from, after)
    }
    if (otherwise === undefined) {
      if (transitions.length > 0) {
        const element = 'no transition applies: the conversation ends, as in the original'
        this.conversion.bot.report.differs(
          file,
          from,
          element,
          'Add a transition that always applies, if that is not wanted',
        )
      }
      otherwise = this.end()
    }
    if (cases.length === 0) return { cards: [], next: otherwise }
    return { cards: [{ type: 'router', cases, ports }], next: otherwise }
  }

  get #isCalled(): boolean {
    return this.conversion.returning.has(this.builder.source.name)
  }

  #leaveWith(value: string, name: string): string {
    return this.builder.share(`leave ${value}`, name, (id) =>
      toNode(id, undefined, [{ type: 'set', values: { [returnVariable]: value } }], null),
    )
  }

  #return(target: string, from: string | undefined): string | null {
    const { bot } = this.conversion
    if (this.#isCalled) return this.#leaveWith(target, 'v12_return')
    const { file } = this.builder.source
    bot.report.differs(file, from, `the return ${target}: this flow begins by itself`, 'The conversation ends there')
    return this.end()
  }

  #toFlow(
    target: string,
    { flow, node }: { flow: string; node: string | undefined },
    from: string | undefined,
    after: string | null,
  ): string | null {
    const { bot, flowIds, returning, unwinds } = this.conversion
    const { file } = this.builder.source
    const id = flowIds.get(flow)
    if (id === undefined) {
      bot.report.lost(file, from, `the transition to ${target}: there is no such flow`, 'The conversation ends there')
      return this.end()
    }
    const known = node === undefined ? undefined : nodeIdOf(this.conversion, flow, node)
    if (node !== undefined && known === undefined) {
      bot.report.lost(
        file,
        from,
        `the transition to ${target}: there is no such node`,
        'It leads to the start of the flow',
      )
    }
    if (returning.has(flow)) return this.#call(flow, id, known, from, after)
    // A conversation begins at the questions and answers; a transition passes them by.
    const start = flow === 'main.flow.json' ? nodeIdOf(this.conversion, flow, bot.flows.get(flow)!.start) : ''
    const destination = `${id}/${known ?? start ?? ''}`
    if (!this.#isCalled) return destination
    unwinds.add(destination)
    return this.#leaveWith(destination, `v12_to_${id}`)
  }

  /** A node that calls a flow, and continues by the way in which that flow has ended. */
  #call(flow: string, id: string, node: string | undefined, from: string | undefined, after: string | null): string {
    const { bot, unwinds, returnTargets } = this.conversion
    if (node !== undefined) {
      bot.report.differs(
        this.builder.source.file,
        from,
        `the call of ${flow} at node ${node}`,
        'It begins at the start of the flow',
      )
    }
    const ids = this.conversion.nodeIds.get(this.builder.source.name)!
    return this.builder.share(`call ${id} ${after ?? ''}`, `v12_call_${id}`, (callId) => {
      const cases: { port: string; if: unknown }[] = []
      const ports: Record<string, string | null> = {}
      const add = (value: string, to: string | null) => {
        const port = `case_${cases.length + 1}`
        cases.push({ port, if: { $: `${returnVariable} === ${JSON.stringify(value)}` } })
        ports[port] = to
      }
      // A flow that was called itself ends in the same way.
      add(end, this.#isCalled ? null : this.end())
      for (const each of [...unwinds].slice(0, 40)) add(each, this.#isCalled ? null : each)
      for (const each of [...returnTargets].slice(0, 40)) {
        const to = ids.get(each.replace(/^#+/, ''))
        if (to !== undefined) add(each, each.startsWith('##') ? to : (this.transitionsOf(each.slice(1)) ?? to))
      }
      const again = from === undefined ? undefined : ids.get(from)
      if (again !== undefined) add('##', again)
      const clear: NewCard = { type: 'set', remove: [returnVariable] }
      return toNode(callId, undefined, [clear, { type: 'call', flow: id }, { type: 'router', cases, ports }], after)
    })
  }

  /** The id of the node that has only the transitions of a node, if there is one. */
  transitionsOf(name: string): string | undefined {
    const { returnTargets, returning } = this.conversion
    const node = this.builder.source.nodes.find((each) => each.name === name)
    const calls = node?.next.some(({ target }) => {
      const other = readFlowTarget(target)
      return other !== undefined && returning.has(other.flow)
    })
    if (calls !== true && !returnTargets.has(`#${name}`)) return undefined
    return `${nodeIdOf(this.conversion, this.builder.source.name, name)!.slice(0, 58)}__next`
  }
}
