import type { ComponentChildren, JSX } from 'preact'
import { Json } from '../parts/json.tsx'

interface PayloadProps {
  payload: Record<string, unknown>
  /** Sends the label and the value of the user's choice. */
  say: (text: string, value: string) => void
}

interface Option {
  label: string
  value: string
}

interface Card {
  title: string
  subtitle?: string
  imageUrl?: string
  actions?: (Option & { action: string })[]
}

/** The content of a message. Unknown types are shown as JSON. */
export function Payload({ payload, say }: PayloadProps): JSX.Element {
  const text = (name: string) => toText(payload[name])
  switch (payload['type']) {
    case 'text':
      return <p>{text('text')}</p>
    case 'markdown':
      return <p>{text('markdown')}</p>
    case 'choice':
    case 'dropdown':
      return (
        <>
          <p>{text('text')}</p>
          <Options options={payload['options'] as Option[]} say={say} />
        </>
      )
    case 'image':
      return <img src={text('imageUrl')} alt="" loading="lazy" />
    case 'audio':
      return <audio src={text('audioUrl')} controls />
    case 'video':
      return <video src={text('videoUrl')} controls />
    case 'file':
      return <Elsewhere href={text('fileUrl')}>{text('title') || 'File'}</Elsewhere>
    case 'location':
      return (
        <p>
          {text('title') || text('address') || 'Location'}: {text('latitude')}, {text('longitude')}
        </p>
      )
    case 'card':
      return <CardView card={payload as unknown as Card} say={say} />
    case 'carousel':
      return (
        <div class="carousel">
          {(payload['items'] as Card[]).map((card, index) => (
            <CardView key={index} card={card} say={say} />
          ))}
        </div>
      )
    case 'bloc':
      return (
        <>
          {(payload['items'] as Record<string, unknown>[]).map((item, index) => (
            <Payload key={index} payload={item} say={say} />
          ))}
        </>
      )
    default:
      return <Json value={payload} label="Message" />
  }
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function Options({ options, say }: { options: Option[]; say: PayloadProps['say'] }): JSX.Element {
  return (
    <div class="options">
      {options.map(({ label, value }) => (
        <button key={value} type="button" class="button small" onClick={() => say(label, value)}>
          {label}
        </button>
      ))}
    </div>
  )
}

function CardView({ card, say }: { card: Card; say: PayloadProps['say'] }): JSX.Element {
  const { title, subtitle, imageUrl, actions = [] } = card
  return (
    <article class="card">
      {imageUrl && <img src={imageUrl} alt="" loading="lazy" />}
      <strong>{title}</strong>
      {subtitle && <p>{subtitle}</p>}
      <div class="options">
        {actions.map(({ action, label, value }) =>
          action === 'url' ? (
            <Elsewhere key={value} href={value}>
              {label}
            </Elsewhere>
          ) : (
            <button key={value} type="button" class="button small" onClick={() => say(label, value)}>
              {label}
            </button>
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
