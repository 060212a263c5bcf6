import { closedObject, type Infer } from '../schema.ts'
import { digitsOf, minTermCharacters, type Subject } from './person-terms.ts'
import { dataRequestStatuses, type DataFindingRow, type DataRequestRow } from './tables.ts'
import { ApiError } from '../errors.ts'

/** Upper bounds of a request. */
export const maxIdentifiers = 20
export const maxUsers = 200

const identifiers = (items: object, description: string) =>
  ({ type: 'array', maxItems: maxIdentifiers, items, description }) as const
const text = { type: 'string', minLength: minTermCharacters, maxLength: 320 } as const

/** Names a person, in the input of operations. The fields are alternatives: data of each is the person's. */
export const personInput = {
  botId: { type: 'string', description: 'Only data of this bot. Default: of all bots of the workspace.' },
  userId: {
    type: 'string',
    pattern: '^user_[0-9A-HJKMNP-TV-Z]{26}$',
    description: 'A user, who may have been deleted already.',
  },
  externalId: { ...text, minLength: 1, description: 'The id that a client chose for its user; needs `botId`.' },
  tag: {
    ...closedObject({ key: { ...text, minLength: 1 }, value: { ...text, minLength: 1 } }),
    description: 'Users who have this tag.',
  },
  emails: identifiers(text, 'Addresses of the person, compared without regard to case.') as typeof texts,
  phones: identifiers(text, 'Telephone numbers with their country code, compared by their digits.') as typeof texts,
  texts: identifiers(text, 'Other texts that name the person, such as a customer number.') as typeof texts,
} as const

declare const texts: { type: 'array'; items: { type: 'string' }; description: string }

interface PersonInput {
  botId?: string
  userId?: string
  externalId?: string
  tag?: { key: string; value: string }
  emails?: string[]
  phones?: string[]
  texts?: string[]
}

/** @throws ApiError `InvalidPayload` when the input names nobody */
export function toSubject({
  botId,
  userId,
  externalId,
  tag,
  emails = [],
  phones = [],
  texts = [],
}: PersonInput): Subject {
  if (externalId !== undefined && botId === undefined)
    throw new ApiError('InvalidPayload', '`externalId` needs `botId`')
  const isNamed = userId !== undefined || externalId !== undefined || tag !== undefined
  if (!isNamed && emails.length + phones.length + texts.length === 0) {
    throw new ApiError(
      'InvalidPayload',
      'Name the person by `userId`, `externalId`, `tag`, `emails`, `phones` or `texts`',
    )
  }
  const badMail = emails.find((email) => !/^[^\s@]+@[^\s@]+$/.test(email.trim()))
  if (badMail !== undefined) throw new ApiError('InvalidPayload', '`emails` has a text that is no address')
  if (phones.some((phone) => digitsOf(phone).length < 7 || digitsOf(phone).length > 15)) {
    throw new ApiError('InvalidPayload', '`phones` has a text without 7 to 15 digits')
  }
  const userIds = userId === undefined ? [] : [userId]
  return { userIds, externalId, tag, emails, phones, texts }
}

/** The progress of a data request: rows that it has found and erased, and its stage. */
export const dataRequest = closedObject(
  {
    id: { type: 'string' },
    createdAt: { type: 'string', format: 'date-time' },
    status: { enum: dataRequestStatuses },
    eraseFindings: { type: 'boolean' },
    userIds: { type: 'array', items: { type: 'string' }, description: 'The users that were erased.' },
    erased: {
      type: 'object',
      additionalProperties: { type: 'integer' },
      description: 'Numbers of erased rows, by kind.',
    },
    searchedRows: { type: 'integer' },
    findings: { type: 'integer', description: 'Rows that name the person and that nobody has decided about.' },
  },
  {
    botId: { type: 'string' },
    completedAt: { type: 'string', format: 'date-time' },
    stage: { enum: ['users', 'conversations', 'runs', 'search', 'findings'], description: 'While it is in progress.' },
    failure: {
      type: 'string',
      description: 'Why it failed; or the last failure of one in progress, which continues by itself.',
    },
  },
)

export interface DescribedDataRequestRow extends DataRequestRow {
  user_ids: string[]
  findings: number
}

export function toDataRequest(row: DescribedDataRequestRow): Infer<typeof dataRequest> {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    status: row.status,
    eraseFindings: row.erases_findings,
    userIds: row.user_ids,
    erased: row.erased,
    searchedRows: Number(row.searched),
    findings: row.findings,
    ...(row.bot_id !== null && { botId: row.bot_id }),
    ...(row.completed_at && { completedAt: row.completed_at.toISOString() }),
    ...((row.status === 'pending' || row.status === 'in_progress') && { stage: row.stage }),
    ...(row.failure_reason !== null && { failure: row.failure_reason }),
  }
}

/** The address of a row that names the person, and none of its contents. */
export const dataFinding = closedObject({
  id: { type: 'string' },
  kind: { type: 'string', description: 'For instance `tableRow`, `state` or `log`.' },
  botId: { type: 'string' },
  address: { type: 'object', additionalProperties: true, description: 'Ids by which the row is found.' },
})

export function toDataFinding(row: DataFindingRow): Infer<typeof dataFinding> {
  return { id: row.id, kind: row.kind, botId: row.bot_id, address: row.address }
}
