import type { ComponentChildren, JSX } from 'preact'
import { legibleName } from '../../../shared/chat-client/sent-file-name.ts'
import { Json } from '../parts/json.tsx'

interface PayloadProps {
  payload: Record<string, unknown>
  /** Sends the label and the value of the user's choice; without it, options are shown and cannot be chosen. */
  say?: Say | undefined
  /** Media become links: their addresses are a stranger's, and to load one shows the reader's own address. */
  isForeign?: boolean
}

type Say = (text: string, value: string) => void

/** The content of a message. Unknown types are shown as JSON. Integrations and bots may send any fields. */
export function Payload({ payload, say, isForeign = false }: PayloadProps): JSX.Element {
  const text = (name: string) => toText(payload[name])
  const { type } = payload
  switch (type) {
    case 'text':
      return <p dir="auto">{text('text')}</p>
    case 'markdown':
      return <p dir="auto">{text('markdown')}</p>
    case 'choice':
    case 'dropdown':
      return (
        <>
          <p dir="auto">{text('text')}</p>
          <Options options={recordsOf(payload['options'])} say={say} />
        </>
      )
    case 'image':
    case 'audio':
    case 'video':
      return <Media type={type} url={text(`${type}Url`)} isForeign={isForeign} />
    case 'file':
      return <Elsewhere href={text('fileUrl')}>{legibleName(text('title')) || 'File'}</Elsewhere>
    case 'location':
      return (
        <p>
          {text('title') || text('address') || 'Location'}: {text('latitude')}, {text('longitude')}
        </p>
      )
    case 'card':
      return <CardView card={payload} say={say} isForeign={isForeign} />
    case 'carousel':
      return (
        <div class="carousel">
          {recordsOf(payload['items']).map((card, index) => (
            <CardView key={index} card={card} say={say} isForeign={isForeign} />
          ))}
        </div>
      )
    case 'bloc':
      return (
        <>
          {recordsOf(payload['items']).map((item, index) =>
            // A bloc has no blocs; one that does could be nested without end.
            item['type'] === 'bloc' ? (
              <Json key={index} value={item} label="Message" />
            ) : (
              <Payload key={index} payload={item} say={say} isForeign={isForeign} />
            ),
          )}
        </>
      )
    default:
      return <Json value={payload} label="Message" />
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The objects of a list; anything else has none. */
function recordsOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return []
  return value.filter((item): item is Record<string, unknown> => typeof item === 'object' && item !== null)
}

interface MediaProps {
  type: 'image' | 'audio' | 'video'
  url: string
  isForeign: boolean
}

function Media({ type, url, isForeign }: MediaProps): JSX.Element {
  if (isForeign) return <Elsewhere href={url}>{`${type}: ${url}`}</Elsewhere>
  switch (type) {
    case 'image':
      return <img src={url} alt="" loading="lazy" />
    case 'audio':
      return <audio src={url} controls />
    case 'video':
      return <video src={url} controls />
  }
}

function Options({ options, say }: { options: Record<string, unknown>[]; say: Say | undefined }): JSX.Element {
  return (
    <div class="options">
      {options.map(({ label, value }, index) => (
        <Option key={index} label={toText(label)} value={toText(value)} say={say} />
      ))}
    </div>
  )
}

function Option({ label, value, say }: { label: string; value: string; say: Say | undefined }): JSX.Element {
  if (!say) return <bdi class="tag">{label}</bdi>
  return (
    <button type="button" class="button small" dir="auto" onClick={({ detail }) => detail < 2 && say(label, value)}>
      {label}
    </button>
  )
}

interface CardProps {
  card: Record<string, unknown>
  say: Say | undefined
  isForeign: boolean
}

function CardView({ card, say, isForeign }: CardProps): JSX.Element {
  const subtitle = toText(card['subtitle'])
  const imageUrl = toText(card['imageUrl'])
  return (
    <article class="card" dir="auto">
      {imageUrl && <Media type="image" url={imageUrl} isForeign={isForeign} />}
      <strong>{toText(card['title'])}</strong>
      {subtitle && <p>{subtitle}</p>}
      <div class="options">
        {recordsOf(card['actions']).map(({ action, label, value }, index) =>
          action === 'url' ? (
            <Elsewhere key={index} href={toText(value)}>
              {toText(label)}
            </Elsewhere>
          ) : (
            <Option key={index} label={toText(label)} value={toText(value)} say={say} />
          ),
        )}
      </div>
    </article>
  )
}

/** A link from a bot. Only web addresses become links: no `javascript:`, no `data:`. */
function Elsewhere({ href, children }: { href: string; children: ComponentChildren }): JSX.Element {
  if (!/^https?:\/\//i.test(href)) return <span>{children}</span>
  return (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}
