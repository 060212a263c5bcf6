import { callSite, type CallSite } from './call-site.ts'
import { dateToIso, freeze, isObject, NativeDate, NativeError, NativeTypeError, record } from './primordials.ts'
import { follow, type KernelRun } from './run.ts'

/** The calls that a message stream makes of the platform. */
export interface StreamHost {
  /** Calls the action `chat:publishMessageStream`, without hooks and ahead of all reserved positions. */
  publish(input: object, site: CallSite): Promise<unknown>
  /**
   * Performs `createMessage` as `client.createMessage` does. `finish` waits for the deltas and makes the final change
   * to the input, after the hooks; the call keeps its position meanwhile.
   */
  createMessage(input: unknown, site: CallSite, finish: (input: unknown) => Promise<unknown>): Promise<unknown>
}

/**
 * Begins a message that is shown while it is written: the object that bot code gets from `client.streamMessage`.
 *
 * @throws TypeError when the conversation's id is no string
 */
export function openMessageStream(run: KernelRun, host: StreamHost, conversationId: unknown): object {
  if (typeof conversationId !== 'string')
    throw new NativeTypeError('The argument of client.streamMessage must be the id of a conversation')
  run.streams += 1
  const id = `${run.streamPrefix}${run.streams}`
  const createdAt = dateToIso(new NativeDate())
  let sequence = 0
  let written = ''
  let unsent = ''
  let over = ''
  /** The newest delta; it is sent after all earlier ones. */
  let newest: Promise<void> | undefined
  /** The newest delta, while it still accepts text. */
  let open: Promise<void> | undefined

  const publish = (signal: object, site: CallSite) =>
    host.publish(record({ conversationId, signal: record(signal) }), site)
  const publishAbort = (site: CallSite) => publish({ type: 'abort', streamId: id }, site)

  /** Sends a delta after the previous one has settled, with all text written until then. */
  const send = async (previous: Promise<void> | undefined, site: CallSite): Promise<void> => {
    await settled(previous)
    const delta = unsent
    unsent = ''
    open = undefined
    sequence += 1
    await publish({ type: 'delta', streamId: id, createdAt, sequence: sequence - 1, delta }, site)
  }

  const assertOngoing = () => {
    if (over !== '') throw new NativeError(`The message stream ${id} has been ${over}: begin another stream`)
  }

  const write = async (delta: unknown, site: CallSite): Promise<void> => {
    assertOngoing()
    if (typeof delta !== 'string') throw new NativeTypeError('The argument of stream.write must be a string')
    if (delta === '') return
    written += delta
    unsent += delta
    if (open === undefined) newest = open = send(newest, site)
    await open
  }

  const end = async (message: unknown, site: CallSite): Promise<unknown> => {
    assertOngoing()
    if (message !== undefined && !isObject(message)) {
      throw new NativeTypeError('stream.end takes { type, payload, tags }, or no argument to send the written text')
    }
    over = 'ended'
    const content = message ?? { type: 'text', payload: { text: written } }
    const reply = await host.createMessage({ ...content, conversationId }, site, async (input) => {
      await settled(newest)
      return withStreamId(input, id)
    })
    // A hook has stopped the message.
    if (isObject(reply) && reply['message'] === null) await publishAbort(site)
    return reply
  }

  const abort = async (site: CallSite): Promise<void> => {
    assertOngoing()
    over = 'aborted'
    await settled(newest)
    await publishAbort(site)
  }

  const callable = (method: (input: unknown, site: CallSite) => Promise<unknown>) => {
    const call = (input: unknown) => {
      const site = callSite(call)
      return follow(run, () => method(input, site))
    }
    return call
  }
  return freeze({ id, write: callable(write), end: callable(end), abort: callable((_, site) => abort(site)) })
}

/** Waits for a delta. Its writer handles its failure. */
async function settled(delta: Promise<void> | undefined): Promise<void> {
  try {
    await delta
  } catch {
    // Listeners lack a piece of the text until the message arrives.
  }
}

/** Adds the id of the stream that a message completes. */
function withStreamId(message: unknown, streamId: string): unknown {
  if (!isObject(message) || !isObject(message['payload'])) return message
  const { payload } = message
  const metadata = isObject(payload['metadata']) ? payload['metadata'] : {}
  return { ...message, payload: { ...payload, metadata: { ...metadata, streamId } } }
}
