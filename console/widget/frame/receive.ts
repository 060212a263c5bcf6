import type { ReadonlySignal, Signal } from '@preact/signals'
import type { Appearance } from '../../../shared/models/webchat-appearance.ts'
import type { ToPage } from '../protocol.ts'
import type { Composing } from './composing.ts'
import { openSound } from './sound.ts'
import type { Transcript } from './transcript.ts'
import type { Message, StreamFrame, User } from './types.ts'

interface Parts {
  transcript: Transcript
  user: ReadonlySignal<User | undefined>
  appearance: Signal<Appearance>
  composing: Composing
  initialized: (frame: Extract<StreamFrame, { type: 'init' }>['data']) => void
  post: (message: ToPage) => void
}

/** Carries out each frame of a stream, and passes on to the page what is its concern. */
export function openReceiver({ transcript, user, appearance, composing, initialized, post }: Parts) {
  const emit = (name: string, data: unknown) => post({ type: 'event', name, data })
  const sound = openSound([{ hertz: 660, seconds: 0 }], () => appearance.value.soundEnabled === true)

  function received(message: Message): void {
    const isFirst = transcript.receive(message)
    if (message.userId !== user.value?.id) {
      composing.stop()
      if (isFirst && appearance.value.soundEnabled) sound.play()
    }
    if (message.id.startsWith('msg_')) emit('message', message)
  }

  return (frame: StreamFrame): void => {
    switch (frame.type) {
      case 'init':
        return initialized(frame.data)
      case 'message_created':
      case 'message_updated':
        return received(frame.data)
      case 'message_deleted':
        return transcript.remove(frame.data.id)
      case 'participant_added':
        transcript.people.add(frame.data.participant)
        return emit('participantAdded', frame.data.participant)
      case 'participant_removed':
        transcript.people.remove(frame.data.participantId)
        return emit('participantRemoved', frame.data.participantId)
      case 'handover_changed':
        return transcript.people.update(frame.data.handover)
      case 'typing_started':
        return composing.start(frame.data, frame.data.timeout)
      case 'typing_stopped':
        return composing.stop(frame.data)
      case 'webchat_visibility':
        emit('webchatVisibility', frame.data)
        return post({ type: 'visibility', visibility: frame.data.visibility })
      case 'webchat_config':
        appearance.value = { ...appearance.value, ...readBotChange(frame.data.config) }
        return emit('webchatConfig', frame.data.config)
      case 'custom':
        emit('customEvent', frame.data.event)
    }
  }
}

const changeable = ['botName', 'botDescription', 'botAvatar', 'color', 'themeMode', 'composerPlaceholder'] as const

/** The fields of a bot's change (`configWebchat`) that can be shown at once. */
function readBotChange(config: Record<string, unknown>): Appearance {
  return Object.fromEntries(
    changeable.flatMap((name) => (typeof config[name] === 'string' ? [[name, config[name]]] : [])),
  )
}
