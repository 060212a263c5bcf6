import type { ComponentChildren, JSX } from 'preact'
import { Segmented } from '../parts/choice.tsx'
import { hasRole } from '../state/session.ts'
import type { Draft } from './draft.ts'
import { Area, Check, Contacts, Line, Texts } from './fields.tsx'

const themes = [
  { value: 'auto', label: 'as the device' },
  { value: 'light', label: 'light' },
  { value: 'dark', label: 'dark' },
] as const

const triggers = [
  { value: 'afterDelay', label: 'after a time' },
  { value: 'userIdle', label: 'when the visitor is idle' },
] as const

const usualColor = '#2563eb'
const maxRadius = 4
const usualDelay = 5

/** Every field of a web chat's configuration. */
export function AppearanceForm({ draft, save }: { draft: Draft; save: () => void }): JSX.Element {
  const { values, set } = draft
  const bind = (
    name: 'botName' | 'botDescription' | 'greeting' | 'composerPlaceholder' | 'botAvatar' | 'fabImage',
  ) => ({
    value: values[name],
    onChange: (value: string) => set({ [name]: value }),
  })
  const submit = (event: Event) => {
    event.preventDefault()
    save()
  }
  return (
    <form class="webchat-form" onSubmit={submit}>
      <Group title="Name and words">
        <Line label="Name" placeholder="Ada" {...bind('botName')} />
        <Line label="Line below the name" placeholder="Answers within seconds" {...bind('botDescription')} />
        <Area label="Greeting, in Markdown" placeholder="Hello! How can I help?" {...bind('greeting')} />
        <Line label="Text in the empty field" placeholder="Write a message …" {...bind('composerPlaceholder')} />
      </Group>
      <Look draft={draft} />
      <Group title="Language">
        <Line
          label="Language (default: the visitor’s)"
          placeholder="en"
          value={values.locale}
          onChange={(locale) => set({ locale })}
        />
        <Texts draft={draft} />
      </Group>
      <Group title="Below the field">
        <Area
          label="Text, in Markdown"
          placeholder="Answers by a *machine*"
          value={values.footer}
          onChange={(footer) => set({ footer })}
        />
        <Contacts draft={draft} />
      </Group>
      <Group title="Functions">
        <Check
          label="Visitors see a list of their conversations"
          value={values.conversationHistory !== false}
          onChange={(conversationHistory) => set({ conversationHistory })}
        />
        <Check
          label="Visitors rate messages of the bot"
          value={values.feedbackEnabled === true}
          onChange={(feedbackEnabled) => set({ feedbackEnabled })}
        />
        <Check
          label="A tone announces messages"
          value={values.soundEnabled === true}
          onChange={(soundEnabled) => set({ soundEnabled })}
        />
        <Check
          label="Visitors send files"
          value={values.allowFileUpload === true}
          onChange={(allowFileUpload) => set({ allowFileUpload })}
        />
        <Area
          label="Types of these files, one per line (default: all)"
          placeholder="image/*"
          value={draft.fileTypes}
          onChange={draft.setFileTypes}
        />
      </Group>
      <Invitation draft={draft} />
      <Access draft={draft} />
      <button type="submit" class="button">
        Save
      </button>
    </form>
  )
}

function Group({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      {children}
    </section>
  )
}

function Look({ draft: { values, set } }: { draft: Draft }): JSX.Element {
  return (
    <Group title="Look">
      <label class="field">
        Colour
        <input
          type="color"
          value={values.color ?? usualColor}
          onInput={({ currentTarget }) => set({ color: currentTarget.value })}
        />
      </label>
      <label class="field">
        Roundness of corners
        <input
          type="range"
          min={0}
          max={maxRadius}
          step={0.5}
          value={values.radius ?? maxRadius}
          onInput={({ currentTarget }) => set({ radius: currentTarget.valueAsNumber })}
        />
      </label>
      <Segmented
        label="Light or dark"
        options={themes}
        value={values.themeMode ?? 'auto'}
        onChange={(themeMode) => set({ themeMode })}
      />
      <Line
        label="Fonts of the visitor’s device"
        placeholder="Georgia, serif"
        value={values.fontFamily}
        onChange={(fontFamily) => set({ fontFamily })}
      />
      <Line
        label="Picture of the bot, an address"
        placeholder="https://example.com/ada.png"
        value={values.botAvatar}
        onChange={(botAvatar) => set({ botAvatar })}
      />
      <Line
        label="Picture of the bubble, an address"
        placeholder="https://example.com/bubble.png"
        value={values.fabImage}
        onChange={(fabImage) => set({ fabImage })}
      />
    </Group>
  )
}

function Invitation({ draft: { values, set } }: { draft: Draft }): JSX.Element {
  const isOn = values.proactiveMessageEnabled === true
  return (
    <Group title="Invitation">
      <Check
        label="A message beside the bubble invites visitors"
        value={isOn}
        onChange={(proactiveMessageEnabled) => set({ proactiveMessageEnabled })}
      />
      {isOn && (
        <>
          <Line
            label="Words of the invitation"
            placeholder="May I help?"
            value={values.proactiveBubbleMessage}
            onChange={(proactiveBubbleMessage) => set({ proactiveBubbleMessage })}
          />
          <Segmented
            label="When it appears"
            options={triggers}
            value={values.proactiveBubbleTriggerType ?? 'afterDelay'}
            onChange={(proactiveBubbleTriggerType) => set({ proactiveBubbleTriggerType })}
          />
          <label class="field">
            Seconds
            <input
              type="number"
              min={0}
              max={60}
              value={values.proactiveBubbleDelayTime ?? usualDelay}
              onInput={({ currentTarget }) => set({ proactiveBubbleDelayTime: currentTarget.valueAsNumber || 0 })}
            />
          </label>
        </>
      )}
    </Group>
  )
}

function Access({ draft }: { draft: Draft }): JSX.Element {
  const isClosed = draft.values.allowedOrigins?.length === 0
  return (
    <Group title="Access">
      <Area
        label="Origins of pages that may show it"
        placeholder="https://www.example.com"
        value={draft.origins}
        onChange={draft.setOrigins}
      />
      <p class="quiet">
        One per line. Without entries, {isClosed ? 'no page of a site' : 'pages of all origins'} may show it.
      </p>
      {hasRole('administrator') && (
        <>
          <Line
            label="Secret with which your server signs keys of visitors"
            type="password"
            value={draft.values.encryptionKey}
            onChange={(encryptionKey) => draft.set({ encryptionKey })}
          />
          <p class="quiet">With a secret, visitors without a signed key are refused.</p>
        </>
      )}
    </Group>
  )
}
