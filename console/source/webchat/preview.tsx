import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { WebchatConfiguration } from '../../../shared/models/webchat-configuration.ts'
import { colorsOf } from '../../widget/looks.ts'
import { helloMark, type Hello, type ToFrame } from '../../widget/protocol.ts'
import { safeSource } from '../../widget/frame/links.ts'
import type { Message } from '../../widget/frame/types.ts'
import { Icon } from '../parts/icons.tsx'

const ofSample = { createdAt: '2000-01-01T12:00:00.000Z', conversationId: 'sample' }
const options = ['Green tea', 'Black tea'].map((label) => ({ label, value: label }))

/** A conversation that exists nowhere. */
const sample: Message[] = [
  { ...ofSample, id: 'msg_1', userId: 'bot', payload: { type: 'text', text: 'A message of the **bot**.' } },
  { ...ofSample, id: 'msg_2', userId: 'visitor', payload: { type: 'text', text: 'A message of the visitor.' } },
  { ...ofSample, id: 'msg_3', userId: 'bot', payload: { type: 'choice', text: 'Which tea?', options } },
]

/**
 * The widget with a configuration that is not stored yet. The frame is that of pages, without a connection: it shows a sample, and
 * nobody can use it.
 *
 * @param address of the frame, on this origin
 */
export function Preview({ address, draft }: { address: string; draft: WebchatConfiguration }): JSX.Element {
  const frame = useRef<HTMLIFrameElement>(null)
  const [port, setPort] = useState<MessagePort>()
  const { allowedOrigins: _origins, fileTypes: _types, encryptionKey: _key, ...appearance } = draft
  useEffect(() => {
    port?.postMessage({ type: 'configure', appearance } satisfies ToFrame)
  }, [port, JSON.stringify(appearance)])
  const begin = () => {
    const { port1, port2 } = new MessageChannel()
    const hello: Hello = {
      isobot: helloMark,
      mode: 'bubble',
      isOpen: false,
      appearance,
      user: {},
      renewsKeys: false,
      sample,
    }
    frame.current?.contentWindow?.postMessage(hello, location.origin, [port2])
    setPort(port1)
  }
  const { accent, onAccent } = colorsOf(appearance.color)
  const image = safeSource(appearance.fabImage, 'picture')
  const { proactiveMessageEnabled: invites, proactiveBubbleMessage: invitation } = appearance
  return (
    <section class="panel webchat-preview" aria-label="Preview">
      <header>
        <h2>Preview</h2>
      </header>
      <iframe ref={frame} src={address} title="Preview of the web chat" inert onLoad={begin} />
      <p class="bubble-row">
        {invites && invitation !== undefined && <span class="invitation">{invitation}</span>}
        <span class="bubble" style={{ background: accent, color: onAccent }}>
          {image === undefined ? <Icon name="chat" /> : <img src={image} alt="" referrerpolicy="no-referrer" />}
        </span>
      </p>
    </section>
  )
}
