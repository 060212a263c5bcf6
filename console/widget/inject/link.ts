import { helloMark, type Hello, type Method, type ToFrame, type ToPage } from '../protocol.ts'
import { element } from './elements.ts'

/** A frame with the chat, and the channel to it. */
export interface Link {
  /** The newest frame: one that does not answer is replaced. */
  readonly frame: HTMLIFrameElement
  send(message: ToFrame): void
  call(method: Method, argument: unknown): Promise<unknown>
}

/** The document of the frame that has got a call is gone. */
export class InterruptedError extends Error {}

/**
 * A frame that is silent for longer after it has loaded was refused, by the configuration or by the page's own policy, or the
 * platform is unavailable. The frame's script runs before that, and answers at once.
 */
const silenceMilliseconds = 5000
/**
 * A frame that has not loaded for longer is taken for lost: only Chromium reports the end of an attempt that has failed. One
 * that loads later is shown.
 */
const loadMilliseconds = 15_000
/** The first pause until another frame replaces one that does not answer; the pauses double up to the longest. */
const firstPauseMilliseconds = 5000
const longestPauseMilliseconds = 60_000

/**
 * Creates the frame. Messages that are sent before a frame answers wait for it.
 *
 * @param hello is asked for when a frame has loaded
 * @param receive gets what the frame sends
 * @param show puts a frame into the page
 * @param onSilence is called when a frame does not answer, which the page may then remove
 */
export function openLink(
  url: URL,
  hello: () => Omit<Hello, 'isobot'>,
  receive: (message: ToPage) => void,
  show: (frame: HTMLIFrameElement) => void,
  onSilence: () => void,
): Link {
  const calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  let calledSoFar = 0
  let frame: HTMLIFrameElement
  let port: MessagePort | undefined
  /** Messages from before a frame has answered, which each further document gets; undefined from then on. */
  let unanswered: ToFrame[] | undefined = []
  /** Calls for the next document, from a time when the page shows no frame. */
  const held: Extract<ToFrame, { type: 'call' }>[] = []
  let pause = firstPauseMilliseconds
  let timer: ReturnType<typeof setTimeout> | undefined

  /** A new element adds no entry to the history of the page, as another address of the former one would. */
  function load(): void {
    frame = element('iframe', { src: url.href, allow: 'clipboard-write', referrerpolicy: 'origin' })
    // Browsers load a frame anew when the page moves it to another place of the document.
    frame.addEventListener('load', greet)
    timer = setTimeout(missed, loadMilliseconds)
    show(frame)
  }

  function greet(): void {
    const { port1, port2 } = new MessageChannel()
    port1.addEventListener('message', ({ data }: MessageEvent<ToPage>) => {
      clearTimeout(timer)
      pause = firstPauseMilliseconds
      unanswered = undefined
      take(data)
    })
    port1.start()
    port?.close()
    port = port1
    if (unanswered === undefined) interrupt()
    clearTimeout(timer)
    timer = setTimeout(missed, silenceMilliseconds)
    // Only a document of the platform's origin receives it; a page that the browser shows in its place does not.
    frame.contentWindow?.postMessage({ isobot: helloMark, ...hello() } satisfies Hello, url.origin, [port2])
    for (const message of unanswered ?? held.splice(0)) port1.postMessage(message)
  }

  /** Ends the calls that a former document of the frame has got and not answered. It may have carried them out. */
  function interrupt(): void {
    for (const [id, { reject }] of calls) {
      if (held.some((call) => call.id === id)) continue
      calls.delete(id)
      reject(new InterruptedError('The chat was loaded anew before it has answered'))
    }
  }

  function missed(): void {
    // An answer on its way would end the attempts.
    port?.close()
    onSilence()
    timer = setTimeout(load, pause)
    pause = Math.min(2 * pause, longestPauseMilliseconds)
  }

  function take(message: ToPage): void {
    if (message.type !== 'result') return receive(message)
    const call = calls.get(message.id)
    calls.delete(message.id)
    if (message.error === undefined) call?.resolve(message.value)
    else call?.reject(new Error(message.error))
  }

  function send(message: ToFrame): void {
    if (message.type === 'call' && unanswered === undefined && !frame.isConnected) return void held.push(message)
    unanswered?.push(message)
    port?.postMessage(message)
  }

  load()
  return {
    get frame() {
      return frame
    },
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
