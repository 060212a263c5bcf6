import { send, type Answer } from '../support/platform.ts'
import type { Tenant } from './tenant.ts'

/** More than may wait for a worker, of one bot in an api. */
const calls = 150

/**
 * Calls an action of one bot many times at once.
 *
 * @returns descriptions of answers that are neither those of the action nor refusals with `Retry-After`
 */
export async function findBurstFaults(url: string, { credentials }: Tenant): Promise<string[]> {
  const body = { type: 'echo', input: { text: 'burst' } }
  const call = () => send('POST', `${url}/v1/chat/actions`, body, credentials.owner).catch(String)
  const answers = await Promise.all(Array.from({ length: calls }, call))
  const faults = new Set(answers.flatMap((answer) => faultOf(answer) ?? []))
  return Array.from(faults, (fault) => `in a burst of calls, ${fault}`)
}

function isRefusal(answer: Answer | string): boolean {
  return typeof answer !== 'string' && [429, 503].includes(answer.status) && answer.headers.has('retry-after')
}

function faultOf(answer: Answer | string): string | undefined {
  if (typeof answer === 'string') return `no answer: ${answer}`
  if (isRefusal(answer) || answer.body?.output?.text === 'burst') return undefined
  return `${answer.status}: ${JSON.stringify(answer.body)}`
}
