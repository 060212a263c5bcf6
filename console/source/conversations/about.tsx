import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { shortId } from '../format.ts'
import { Copy } from '../parts/copy.tsx'
import { Json } from '../parts/json.tsx'
import { Section } from '../parts/side-panel.tsx'
import { Time } from '../parts/time.tsx'
import { to } from '../state/route.ts'
import { hasRole, mayChange } from '../state/session.ts'
import { PersonData } from './person-data.tsx'
import { Picture } from './picture.tsx'
import { Tags } from './tags.tsx'

type About = AnswerOf<'getBotConversation'>
type Participant = About['participants'][number]

/** The people of a conversation and what the bot knows about them. */
export function About({ botId, about }: { botId: string; about: About }): JSX.Element {
  const { conversation, states, flowPosition } = about
  const people = about.participants.filter(({ isMember }) => !isMember)
  return (
    <aside class="panel about" aria-label="About the conversation">
      <Section title={people.length === 1 ? 'User' : 'Participants'}>
        {people.length === 0 && <p class="nothing">The conversation has no participant.</p>}
        <ul class="plain">
          {people.map((person) => (
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
      {mayChange.value && <States states={states} />}
      <p class="live quiet">
        <i class="is-live" /> Live. The audit log has this reading.
      </p>
    </aside>
  )
}

function States({ states }: Pick<About, 'states'>): JSX.Element {
  return (
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
  )
}

function Person({ botId, person }: { botId: string; person: Participant }): JSX.Element {
  const { id, name, pictureUrl, tags } = person
  return (
    <li>
      <p class="person">
        <Picture name={name ?? id} url={pictureUrl} />
        <strong dir="auto">{name ?? shortId(id)}</strong>
      </p>
      <p class="facts">
        <Copy text={id} shown={shortId(id)} label="user id" />
        {mayChange.value && (
          <a href={`${to('bots', botId, 'conversations')}?user=${encodeURIComponent(id)}`}>All conversations</a>
        )}
        {pictureUrl !== undefined && /^https?:\/\//i.test(pictureUrl) && (
          <a href={pictureUrl} target="_blank" rel="noreferrer noopener">
            Picture
          </a>
        )}
      </p>
      <Tags tags={tags} />
      {hasRole('administrator') && <PersonData botId={botId} userId={id} />}
    </li>
  )
}
