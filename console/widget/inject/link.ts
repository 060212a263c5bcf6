import { helloMark, type Hello, type Method, type ToFrame, type ToPage } from '../protocol.ts'
import { element } from './elements.ts'

/** A frame with the chat, and the channel to it. */
export interface Link {
  frame: HTMLIFrameElement
  send(message: ToFrame): void
  call(method: Method, argument: unknown): Promise<unknown>
}

/**
 * A frame that is silent for longer after it has loaded was refused, by the configuration or by the page's own policy, or the
 * platform is unavailable. The frame's script runs before that, and answers at once.
 */
const silenceMilliseconds = 5000

/**
 * Creates the frame. Messages that are sent before it is ready wait for it.
 *
 * @param hello is asked for when the frame has loaded
 * @param receive gets what the frame sends
 * @param onSilence is called when the frame does not answer
 */
export function openLink(
  url: URL,
  hello: () => Omit<Hello, 'isobot'>,
  receive: (message: ToPage) => void,
  onSilence: () => void,
): Link {
  const { port1: port, port2: other } = new MessageChannel()
  const calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let calledSoFar = 0
  const frame = element('iframe', { src: url.href, allow: 'clipboard-write', referrerpolicy: 'origin' })
  let silence: ReturnType<typeof setTimeout>
  port.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
    clearTimeout(silence)
    if (data.type !== 'result') return receive(data)
    const call = calls.get(data.id)
    calls.delete(data.id)
    if (data.error === undefined) call?.resolve(data.value)
    else call?.reject(new Error(data.error))
  })
  port.start()
  frame.addEventListener(
    'load',
    () => {
      silence = setTimeout(onSilence, silenceMilliseconds)
      // Only a document of the platform's origin receives it; a page that the browser shows in its place does not.
      frame.contentWindow?.postMessage({ isobot: helloMark, ...hello() } satisfies Hello, url.origin, [other])
    },
    { once: true },
  )
  const send = (message: ToFrame) => port.postMessage(message)
  return {
    frame,
    send,
    call(method, argument) {
      const id = calledSoFar++
      return new Promise((resolve, reject) => {
        calls.set(id, { resolve, reject })
        send({ type: 'call', id, method, argument })
      })
    },
  }
}
