import type { FlowFrame } from '../../protocol/flow-contract.ts'
import type { Json, JsonObject } from '../../protocol/contract.ts'
import { apply, assign, keys, NativeTypeError, parse, record } from '../primordials.ts'
import { jsonTextOf } from '../json-text.ts'
import { next, openCalls, type Step } from './card-parts.ts'
import type { Card } from './definition.ts'
import { eventState, onceInEvent, scopeOf, stateParts, topFrame, type FlowRun } from './flow-run.ts'

/** The card `code`: a function of the bot, whose changes of the variables are recorded. */

/** The outcome of a code card: its port, and the parts of the state that it has changed. */
interface CodeOutcome {
  port: string | null
  changed: Record<string, Json>
}

export async function runCode(flowRun: FlowRun, frame: FlowFrame, card: Card): Promise<Step> {
  const { code } = card
  if (typeof code !== 'function') throw new NativeTypeError('The field code must be a function')
  const { client, scope } = await openCalls(flowRun, frame, card)
  const { port, changed } = await onceInEvent<CodeOutcome>(flowRun, scope, async () => {
    const before = partsOf(flowRun)
    const { pipeline } = flowRun
    const argument = assign(scopeOf(flowRun), {
      client,
      logger: pipeline.logger,
      state: pipeline.run.shared.event.state,
    })
    const returned = (await apply(code, undefined, [argument])) as unknown
    const after = partsOf(flowRun)
    const changed: Record<string, Json> = record({})
    for (const part in after) if (after[part] !== before[part]) changed[part] = parse(after[part]!) as Json
    return { port: typeof returned === 'string' ? returned : null, changed }
  })
  restoreParts(flowRun, changed)
  return port === null ? next : { kind: 'port', port }
}

/** The variables that code may change, as JSON. */
function partsOf(flowRun: FlowRun): Record<string, string> {
  const scope = scopeOf(flowRun)
  const parts: Record<string, string> = record({})
  const names = ['workflow', 'temp', ...stateParts]
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const refuse = (reason: string) =>
      new NativeTypeError(`The variables of '${name}' cannot be converted to JSON: ${reason}`)
    parts[name] = jsonTextOf(scope[name], name, refuse) ?? '{}'
  }
  return parts
}

/** Sets the parts to their value after the card: what code leaves in them is data from then on. */
function restoreParts(flowRun: FlowRun, changed: Record<string, Json>): void {
  const state = eventState(flowRun)
  const names = keys(changed)
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index]!
    const value = changed[name] as JsonObject
    if (name === 'workflow') topFrame(flowRun)!.variables = value
    else if (name === 'temp') flowRun.position.temp = value
    else state[name] = value
  }
}
