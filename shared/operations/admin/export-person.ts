import type { Context } from '../../context.ts'
import { ApiError } from '../../errors.ts'
import { contentAddress, type AddressedFile } from '../../files/file-addresses.ts'
import { maxUsers } from '../../models/data-request.ts'
import { personTerms, type Subject } from '../../models/person-terms.ts'
import { identifiedUsers, inboxUsersOf, namedUsers, nextBot, ownConversations } from '../../store/erase-person.ts'
import { personSources, type PersonSource } from '../../store/person-sources.ts'
import { nextParent, readRow, searchWithin, type PersonSearch } from '../../store/search-person.ts'

/** A line of an export. */
export type ExportLine = ExportRow | { kind: 'end'; rows: number }

interface ExportRow {
  kind: string
  botId: string
  /** Whether the row names the person, rather than being the person's. */
  isFinding?: boolean
  data: Record<string, unknown>
  /** Where a file's content can be read for an hour. */
  contentUrl?: string
}

interface Exported {
  workspaceId: string
  botId: string | null
  subject: Subject
}

/** Rows that one statement reads. */
const batchRows = 500
const batchUsers = 1000

/**
 * The rows of a person, and those that name the person, in the order of the bots and of `personSources`. It holds one
 * row at a time, and reads no faster than its reader.
 */
export async function* exportRows(context: Context, { subject, ...scope }: Exported): AsyncGenerator<ExportLine> {
  const { db } = context
  const search = await findPerson(context, { subject, ...scope })
  let rows = 0
  for (let bot = await nextBot(db, { ...scope, after: '' }); bot !== undefined;) {
    for (const source of personSources) {
      for await (const row of rowsOf(context, source, bot, search)) {
        rows += 1
        yield row
      }
    }
    bot = await nextBot(db, { ...scope, after: bot })
  }
  yield { kind: 'end', rows }
}

/** @throws ApiError `LimitExceeded` when the subject names more users than one person has */
async function findPerson({ db }: Context, { subject, ...scope }: Exported): Promise<PersonSearch> {
  const { whole } = personTerms(subject, []) ?? { whole: null }
  const users = new Map<string, { id: string; bot_id: string }>()
  const add = (found: readonly { id: string; bot_id: string }[]) => {
    for (const user of found) users.set(user.id, user)
    if (users.size > maxUsers) throw new ApiError('LimitExceeded', `This names more than ${maxUsers} users`)
  }
  for (let bot = await nextBot(db, { ...scope, after: '' }); bot !== undefined;) {
    add(await namedUsers(db, bot, subject))
    for (let after: string | undefined = whole === null ? undefined : ''; after !== undefined;) {
      const read = await identifiedUsers(db, bot, { whole: whole!, after, limit: batchUsers })
      add(read.users)
      after = read.last
    }
    add(await inboxUsersOf(db, bot, [...users.keys()]))
    bot = await nextBot(db, { ...scope, after: bot })
  }
  const ids = [...users.keys()]
  const conversations = []
  for (const user of users.values()) conversations.push(...(await ownConversations(db, user, ids)))
  const { userIds = [], externalId } = subject
  const names = new Set([...userIds, ...ids, ...(externalId === undefined ? [] : [externalId])])
  return {
    terms: personTerms(subject, [...names]),
    users: [...new Set([...ids, ...userIds])],
    conversations: [...new Set(conversations.map(({ id }) => id))],
  }
}

async function* rowsOf(
  { db, config }: Context,
  source: PersonSource,
  botId: string,
  search: PersonSearch,
): AsyncGenerator<ExportRow> {
  if (source.isTransient) return
  let parent = source.parents === undefined ? '' : await nextParent(db, source, { botId, parent: '' })
  while (parent !== undefined) {
    let [after, limit, isOver]: [string[], number, boolean] = [[], batchRows, false]
    while (!isOver) {
      const read = await searchWithin(db, { source, botId, parent, after, limit }, search)
      if (read === 'slow') {
        limit = Math.max(1, Math.floor(limit / 8))
        continue
      }
      for (const { key, isLinked } of read.found) {
        const data = await readRow(db, { source, botId, parent, key })
        if (!data) continue
        yield {
          kind: source.kind,
          botId,
          ...(!isLinked && { isFinding: true }),
          data: toFields(data),
          ...(typeof data['object_id'] === 'string' && {
            contentUrl: contentAddress(config, data as unknown as AddressedFile),
          }),
        }
      }
      after = read.last
      isOver = read.looked < limit
    }
    parent = source.parents === undefined ? undefined : await nextParent(db, source, { botId, parent })
  }
}

/** Columns that say nothing about the person. */
const internal = new Set([
  'bot_id',
  'object_id',
  'sequence',
  'clock',
  'messaged_at',
  'messaged_in',
  'attempt',
  'public_id',
  'stale',
  'key_space',
  'runs',
])

/** A row with the names of fields in place of those of columns. */
function toFields(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([column, value]) => value !== null && !internal.has(column))
      .map(([column, value]) => [column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()), value]),
  )
}
