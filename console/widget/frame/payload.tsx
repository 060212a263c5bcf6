import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { legibleName } from '../../../shared/chat-client/sent-file-name.ts'
import { safeSource } from './links.ts'
import { Link, Markdown } from './markdown.tsx'
import type { Card, Option, Payload } from './types.ts'
import { useView } from './view.ts'

interface PayloadProps {
  payload: Payload
  isOwn: boolean
  /** Whether the visitor can still choose an option of the message. */
  isLatest: boolean
  /** Sends the label and the value of the visitor's choice. */
  choose: (label: string, value: string) => void
}

/** The content of a message. Fields come from bots and visitors: each is read as what it has to be, or not shown. */
export function Content({ payload, isOwn, isLatest, choose }: PayloadProps): JSX.Element | null {
  const { text } = useView()
  const field = (name: string) => read(payload[name])
  switch (payload.type) {
    case 'text':
      return isOwn ? <p class="plain">{field('text')}</p> : <Markdown text={field('text')} />
    case 'markdown':
      return isOwn ? <p class="plain">{field('markdown')}</p> : <Markdown text={field('markdown')} />
    case 'choice':
      return (
        <>
          <Markdown text={field('text')} />
          {isLatest && <Choice options={optionsOf(payload)} label={field('text')} choose={choose} />}
        </>
      )
    case 'dropdown':
      return (
        <>
          <Markdown text={field('text')} />
          {isLatest && <Dropdown options={optionsOf(payload)} label={field('text')} choose={choose} />}
        </>
      )
    case 'image':
      return <Picture source={payload['imageUrl']} alt={field('title') || text('image')} isLink />
    case 'audio':
      return (
        <audio src={safeSource(payload['audioUrl'], 'media')} aria-label={field('title') || text('audio')} controls />
      )
    case 'video':
      return (
        <video src={safeSource(payload['videoUrl'], 'media')} aria-label={field('title') || text('video')} controls />
      )
    case 'file':
      return (
        <p class="file">
          <Link href={payload['fileUrl']}>{legibleName(field('title')) || text('file')}</Link>
        </p>
      )
    case 'location':
      return <Location payload={payload} />
    case 'card':
      return <CardView card={payload as unknown as Card} choose={choose} />
    case 'carousel':
      return (
        <div class="carousel" role="group" aria-label={text('cards')} tabIndex={0}>
          {listOf(payload['items']).map((card, index) => (
            <CardView key={index} card={card as unknown as Card} choose={choose} />
          ))}
        </div>
      )
    case 'bloc':
      return (
        <>
          {listOf(payload['items']).map((item, index) => (
            <Content key={index} payload={toPayload(item)} isOwn={isOwn} isLatest={isLatest} choose={choose} />
          ))}
        </>
      )
    case 'custom':
      // A component of the published web chat is unreviewed code from another address.
      return <p class="quiet">{field('name') || text('unsupported')}</p>
    default:
      return <p class="quiet">{text('unsupported')}</p>
  }
}

function read(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []
}

function optionsOf(payload: Payload): Option[] {
  return listOf(payload['options']).map(({ label, value }) => ({ label: read(label), value: read(value) }))
}

/** An item of a bloc, which has its fields in a payload of its own, or none. */
function toPayload({ type, payload, ...rest }: Record<string, unknown>): Payload {
  const fields = typeof payload === 'object' && payload !== null ? payload : rest
  // A bloc in a bloc is not a message of the chat.
  return { ...fields, type: type === 'bloc' ? '' : read(type) }
}

type Choose = Pick<PayloadProps, 'choose'>

function Choice({ options, label, choose }: Choose & { options: Option[]; label: string }): JSX.Element {
  return (
    <div class="options" role="group" aria-label={label}>
      {options.map((option, index) => (
        <button key={index} type="button" class="option" dir="auto" onClick={() => choose(option.label, option.value)}>
          {option.label}
        </button>
      ))}
    </div>
  )
}

/** A list with a button: browsers change the value of a list at each key, which must not send anything. */
function Dropdown({ options, label, choose }: Choose & { options: Option[]; label: string }): JSX.Element {
  const { text } = useView()
  const [chosen, setChosen] = useState('')
  const option = options[Number(chosen)]
  return (
    <form
      class="dropdown"
      onSubmit={(event) => {
        event.preventDefault()
        if (chosen !== '' && option) choose(option.label, option.value)
      }}
    >
      <select aria-label={label} value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
        <option value="">{text('choose')}</option>
        {options.map(({ label }, index) => (
          <option key={index} value={index} dir="auto">
            {label}
          </option>
        ))}
      </select>
      <button type="submit" class="option">
        {text('send')}
      </button>
    </form>
  )
}

function Picture({
  source,
  alt,
  isLink = false,
}: {
  source: unknown
  alt: string
  isLink?: boolean
}): JSX.Element | null {
  const address = safeSource(source, 'picture')
  if (address === undefined) return isLink ? <p class="quiet">{alt}</p> : null
  const image = <img src={address} alt={alt} loading="lazy" referrerpolicy="no-referrer" />
  return isLink && address.startsWith('http') ? <Link href={address}>{image}</Link> : image
}

function Location({ payload }: { payload: Payload }): JSX.Element {
  const { text } = useView()
  const [latitude, longitude] = [Number(payload['latitude']), Number(payload['longitude'])]
  const at = `${latitude}/${longitude}`
  return (
    <p>
      <Link href={`https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${at}`}>
        {read(payload['title']) || read(payload['address']) || text('location')}
      </Link>
      <br />
      <span class="quiet">{read(payload['title']) && read(payload['address'])}</span>{' '}
      <bdi>{`${latitude}, ${longitude}`}</bdi>
    </p>
  )
}

function CardView({ card, choose }: Choose & { card: Card }): JSX.Element {
  return (
    <article class="card">
      <Picture source={card.imageUrl} alt="" />
      <div>
        <p class="heading">{read(card.title)}</p>
        {read(card.subtitle) && <p dir="auto">{read(card.subtitle)}</p>}
      </div>
      <div class="options">
        {listOf(card.actions).map(({ action, label, value }, index) =>
          action === 'url' ? (
            <Link key={index} href={value}>
              {read(label)}
            </Link>
          ) : (
            <button
              key={index}
              type="button"
              class="option"
              dir="auto"
              // Unlike the options of a choice, it stays: the second click of a double click is none of its own.
              onClick={({ detail }) => detail < 2 && choose(read(label), read(value))}
            >
              {read(label)}
            </button>
          ),
        )}
      </div>
    </article>
  )
}
