import type { Json } from '../../protocol/contract.ts'
import { callSite } from '../call-site.ts'
import { jsonTextOf, type Refuse } from '../json-text.ts'
import { followed } from '../run.ts'
import type { Stream } from '../streams.ts'
import { hasOwn, lowerCase, NativeError, NativeTypeError, parse, record, stringify } from '../primordials.ts'
import type { Card } from './definition.ts'
import type { FlowRun } from './flow-run.ts'
import { isPlain, toWords } from './values.ts'

/** The card `http`: one request, whose answer is read whole. */

/** Makes the request of an `http` card. @returns its status and body; a failed request throws */
export async function request(flowRun: FlowRun, card: Card, field: (name: string) => Promise<unknown>): Promise<Json> {
  const { run } = flowRun.pipeline
  const given = await field('headers')
  const headers: Record<string, string> = record({})
  if (isPlain(given)) for (const name in given) if (hasOwn(given, name)) headers[lowerCase(name)] = toWords(given[name])
  const content = await field('body')
  const isText = typeof content === 'string'
  const sent = content === undefined ? undefined : isText ? content : jsonTextOf(content, 'body', refused)
  if (sent !== undefined && !isText && !hasOwn(headers, 'content-type')) headers['content-type'] = 'application/json'
  const text = stringify(
    record({
      method: card['method'] ?? 'GET',
      url: toWords(await field('url')),
      headers,
      redirect: 'follow',
      body: sent,
    }),
  )
  const { answer, body, stream } = await run.fetches.begin(text, callSite(request)).answer
  if (hasOwn(answer, 'failure')) throw new NativeError((answer as { message: string }).message)
  const { status, isBase64 } = answer as { status: number; isBase64?: boolean }
  const whole = stream === undefined ? body : await readWhole(followed(run, stream))
  return { status, body: isBase64 === true ? whole : parsedOr(whole) }
}

const refused: Refuse = (reason) => new NativeTypeError(`The body cannot be converted to JSON: ${reason}`)

/** Upper bound of a body that an `http` card reads; code cards read larger ones in parts. */
const maxBodyCharacters = 1_000_000

async function readWhole(stream: Stream): Promise<string> {
  let text = ''
  for (;;) {
    const { data, failure } = await stream.next('text')
    if (failure !== undefined) throw new NativeError(failure.message)
    if (data === undefined) return text
    if (typeof data !== 'string') {
      stream.cancel()
      throw new NativeTypeError('The body of the answer is no text')
    }
    text += data
    if (text.length <= maxBodyCharacters) continue
    stream.cancel()
    throw new NativeTypeError(`The body of the answer has more than ${maxBodyCharacters} characters`)
  }
}

/** JSON as its value, anything else as text. */
function parsedOr(text: string): Json {
  try {
    return parse(text) as Json
  } catch {
    return text
  }
}
