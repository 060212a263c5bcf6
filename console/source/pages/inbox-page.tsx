import type { JSX } from 'preact'
import type { AnswerOf } from '../../../shared/openapi/answer-of.ts'
import { ConversationPage } from '../conversations/conversation-page.tsx'
import { shortId } from '../format.ts'
import { Icon } from '../parts/icons.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { moveBetweenRows } from '../parts/rows.ts'
import { Time } from '../parts/time.tsx'
import { useAnswer } from '../state/resource.ts'
import { query, setQuery, to } from '../state/route.ts'
import { membership } from '../state/session.ts'
import { CannedRepliesPage } from './canned-replies-page.tsx'
import { Page } from './page.tsx'

const queues = [
  { name: 'waiting', label: 'Waiting', nothing: 'No conversation waits for a person.' },
  { name: 'mine', label: 'Mine', nothing: 'You answer in no conversation.' },
  { name: 'open', label: 'All open', nothing: 'No conversation is handed over.' },
] as const

const pageSize = 100

/** The conversations of all bots in which people answer, or one of them. */
export function InboxPage({ segments: [botId, id] }: { segments: string[] }): JSX.Element {
  const queue = queues.find(({ name }) => name === query.value.get('queue')) ?? queues[0]
  if (botId === 'canned-replies') return <CannedRepliesPage />
  if (botId !== undefined && id !== undefined) {
    const back = { href: to('inbox') + location.search, label: 'Inbox' }
    return <ConversationPage key={id} botId={botId} id={id} back={back} />
  }
  return <Queue key={queue.name} queue={queue} />
}

function Queue({ queue }: { queue: (typeof queues)[number] }): JSX.Element {
  const mine = membership.value?.id
  const filter = queue.name === 'waiting' ? { status: 'pending' } : queue.name === 'mine' ? { memberId: mine } : {}
  const isReady = queue.name !== 'mine' || mine !== undefined
  const handovers = useAnswer<'listWorkspaceHandovers'>(isReady ? '/handovers' : undefined, {
    query: { ...filter, pageSize },
    every: 3000,
  })
  return (
    <Page
      title="Inbox"
      about="The conversations in which people answer, the one that waits longest first"
      actions={
        <a class="button" href={to('inbox', 'canned-replies')}>
          <Icon name="slash" />
          Canned replies
        </a>
      }
    >
      <div class="segmented" role="group" aria-label="Queue">
        {queues.map(({ name, label }) => (
          <button key={name} type="button" aria-pressed={queue.name === name} onClick={() => setQuery({ queue: name })}>
            {label}
          </button>
        ))}
      </div>
      <Loaded of={handovers}>
        {({ handovers, meta }) => (
          <section class="panel" aria-label={queue.label}>
            {handovers.length === 0 ? (
              <p class="nothing">
                <Icon name="check" /> {queue.nothing}
              </p>
            ) : (
              <ol class="plain lines" onKeyDown={moveBetweenRows}>
                {handovers.map((each) => (
                  <Row key={each.handover.id} {...each} />
                ))}
              </ol>
            )}
            {meta.nextToken !== undefined && <p class="nothing">The {pageSize} that wait longest are listed.</p>}
          </section>
        )}
      </Loaded>
    </Page>
  )
}

type Listed = AnswerOf<'listWorkspaceHandovers'>['handovers'][number]

function Row({ bot, handover }: Listed): JSX.Element {
  const { conversationId, user, title, member, createdAt } = handover
  return (
    <li>
      <div>
        <a data-row href={to('inbox', bot.id, conversationId) + location.search}>
          {user?.name ?? shortId(user?.id ?? conversationId)}
        </a>
        <p>
          {title} <span class="quiet">{bot.name}</span>
        </p>
      </div>
      <span>{member ? (member.id === membership.value?.id ? 'You answer' : `${member.name} answers`) : 'Waiting'}</span>
      <span class="number quiet">
        <Time at={createdAt} />
      </span>
    </li>
  )
}
