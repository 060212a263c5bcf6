import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { shortId } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Json } from '../parts/json.tsx'
import { Section } from '../parts/side-panel.tsx'
import { Time } from '../parts/time.tsx'
import { to } from '../state/route.ts'
import { Tags } from './tags.tsx'

type About = AnswerOf<'getBotConversation'>
type Participant = About['participants'][number]

/** The people of a conversation and what the bot knows about them. */
export function About({ botId, about }: { botId: string; about: About }): JSX.Element {
  const { conversation, participants, states, flowPosition } = about
  return (
    <aside class="panel about" aria-label="About the conversation">
      <Section title={participants.length === 1 ? 'User' : 'Participants'}>
        {participants.length === 0 && <p class="nothing">The conversation has no participant.</p>}
        <ul class="plain">
          {participants.map((person) => (
            <Person key={person.id} botId={botId} person={person} />
          ))}
        </ul>
      </Section>
      <Section title="Conversation">
        <p class="facts quiet">
          <span>
            {conversation.installationAlias}, {conversation.channel}
          </span>
        </p>
        <Tags tags={conversation.tags} />
      </Section>
      {flowPosition && (
        <Section title="Position in flows">
          <p>
            <a href={to('bots', botId, 'flows', flowPosition.flow)}>{flowPosition.flow}</a>, node{' '}
            <code>{flowPosition.node}</code>, waits for {flowPosition.waitsFor}
            {flowPosition.until && (
              <>
                {' '}
                until <Time at={flowPosition.until} />
              </>
            )}
          </p>
        </Section>
      )}
      <Section title="States">
        {states.length === 0 && <p class="nothing">The bot’s code has set no state.</p>}
        {states.map(({ type, ownerId, name, payload, updatedAt }) => (
          <details key={`${type} ${ownerId} ${name}`}>
            <summary>
              <code>{name}</code> <span class="quiet">of the {type}</span>
            </summary>
            <p class="quiet">
              Changed <Time at={updatedAt} />
            </p>
            {payload ? (
              <Json value={payload} label={`The state ${name}`} />
            ) : (
              <p class="quiet">It is too large to be shown here.</p>
            )}
          </details>
        ))}
      </Section>
    </aside>
  )
}

function Person({ botId, person }: { botId: string; person: Participant }): JSX.Element {
  const { id, name, pictureUrl, tags } = person
  return (
    <li>
      <p class="person">
        <Picture name={name ?? id} url={pictureUrl} />
        <strong>{name ?? shortId(id)}</strong>
      </p>
      <p class="facts">
        <Copy text={id} shown={shortId(id)} label="user id" />
        <a href={`${to('bots', botId, 'conversations')}?user=${encodeURIComponent(id)}`}>All conversations</a>
        {pictureUrl !== undefined && /^https?:\/\//i.test(pictureUrl) && (
          <a href={pictureUrl} target="_blank" rel="noreferrer noopener">
            Picture
          </a>
        )}
      </p>
      <Tags tags={tags} />
    </li>
  )
}

/**
 * A picture that the address itself contains, or the first letter of the name. A user chooses the address, and to load it
 * would show the reader's own address to its server.
 */
function Picture({ name, url }: { name: string; url: string | undefined }): JSX.Element {
  if (url !== undefined && /^data:image\/(?:png|jpeg|gif|webp);base64,/.test(url)) {
    return <img class="avatar" src={url} alt="" width={28} height={28} />
  }
  return (
    <span class="avatar" aria-hidden="true">
      {firstCharacter(name).toUpperCase()}
    </span>
  )
}

function firstCharacter(text: string): string {
  return String.fromCodePoint(text.codePointAt(0) ?? 32)
}
