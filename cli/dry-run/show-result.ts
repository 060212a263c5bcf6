import { withoutControlCharacters, styled } from '../output.ts'
import type { DryRunCall, DryRunFetch } from './host.ts'
import type { DryRunResult } from './result.ts'

/** The result of a dry run as text for people. */
export function showResult(result: DryRunResult): string {
  const { calls, fetches, logs, status, result: returned, state, error, milliseconds, cpuMilliseconds } = result
  const took = `${milliseconds} ms, ${Math.round(cpuMilliseconds * 10) / 10} ms of processor time`
  const sections = [
    section('Calls', calls.map(showCall)),
    section('Requests', fetches.map(showFetch)),
    section(
      'Log',
      logs.map(
        ({ level, message }) => `${styled(levelStyles[level], level.padEnd(5))} ${withoutControlCharacters(message)}`,
      ),
    ),
    section(
      'State',
      Object.entries(state ?? {})
        .filter(([, value]) => !isEmpty(value))
        .map(([part, value]) => `${part} ${json(value)}`),
    ),
    error ? showError(error) : '',
    status === 'done' ? `${styled('green', 'Done')} in ${took}${showReturned(returned)}` : `Failed after ${took}`,
  ]
  return sections.filter((text) => text !== '').join('\n\n')
}

const levelStyles = { debug: 'gray', info: 'cyan', warn: 'yellow', error: 'red' } as const

function section(title: string, lines: string[]): string {
  return lines.length === 0
    ? ''
    : [styled('bold', title), ...lines.map((line) => `  ${line.replaceAll('\n', '\n  ')}`)].join('\n')
}

function showCall({ operation, input, source, answer, refusal }: DryRunCall): string {
  const outcome = refusal
    ? styled('red', withoutControlCharacters(`${refusal.type}: ${refusal.message}`))
    : json(answer)
  return `${styled('bold', operation)} ${json(input)}\n  ${styled('gray', source ?? 'refused')} ${outcome}`
}

function showFetch({ method, url, status, failure }: DryRunFetch): string {
  return `${withoutControlCharacters(`${method} ${url}`)} ${failure === undefined ? status : styled('red', withoutControlCharacters(failure))}`
}

function showError({ reason, name, message, stack }: NonNullable<DryRunResult['error']>): string {
  const words = withoutControlCharacters(`${name}: ${message}\n${stack}`)
  return `${styled('red', 'Failed')}: ${reason === 'error' ? '' : `${reason}: `}${words}`.trimEnd()
}

function showReturned(returned: unknown): string {
  if (returned === true) return ': the hook stopped the pipeline'
  return typeof returned === 'object' ? `: ${json(returned)}` : ''
}

function json(value: unknown): string {
  return withoutControlCharacters(JSON.stringify(value) ?? '')
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
