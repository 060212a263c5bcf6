import { describe, expect, test } from 'vitest'
import { ApiError, errorStatuses, type ErrorType } from '#shared/errors.ts'

/** The status that published clients expect for each type. */
const published: Record<number, ErrorType[]> = {
  400: [
    'InvalidPayload',
    'InvalidJsonSchema',
    'InvalidDataFormat',
    'InvalidIdentifier',
    'ReferenceNotFound',
    'InvalidQuery',
    'Runtime',
    'BreakingChanges',
  ],
  401: ['Unauthorized'],
  402: ['PaymentRequired'],
  403: ['Forbidden', 'QuotaExceeded'],
  404: ['ResourceNotFound'],
  405: ['MethodNotFound'],
  409: ['AlreadyExists', 'RelationConflict', 'ReferenceConstraint', 'ResourceLockedConflict'],
  410: ['ResourceGone'],
  413: ['PayloadTooLarge', 'LimitExceeded'],
  415: ['UnsupportedMediaType'],
  429: ['RateLimited'],
  500: ['Unknown', 'Internal'],
  504: ['OperationTimeout'],
}

test('every published type has its status, and there are no others', () => {
  const expected = Object.entries(published).flatMap(([status, types]) => types.map((type) => [type, Number(status)]))
  expect(Object.fromEntries(expected)).toEqual(errorStatuses)
})

describe('an error', () => {
  test('has all four fields as its body', () => {
    expect(JSON.parse(JSON.stringify(new ApiError('Forbidden', 'No')))).toEqual({
      id: expect.stringMatching(/^err_20\d{12}x[0-9A-F]{8}$/),
      code: 403,
      type: 'Forbidden',
      message: 'No',
    })
  })

  test('that is unexpected does not reveal its message', () => {
    const cause = new Error('password=hunter2')
    const error = ApiError.from(cause)
    expect(error).toMatchObject({ type: 'Internal', cause })
    expect(JSON.stringify(error)).not.toContain('hunter2')
  })

  test('that is none when thrown becomes one', () => {
    expect(ApiError.from(undefined).status).toBe(500)
    expect(ApiError.from('text').status).toBe(500)
  })

  test.each([
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    Object.assign(new Error('sorry, too many clients already'), { code: '53300' }),
    Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' }),
    Object.assign(new Error('cannot execute INSERT in a read-only transaction'), { code: '25006' }),
    Object.assign(new Error('permission denied for table messages'), { code: '42501' }),
    Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
    Object.assign(new Error('password authentication failed for user "isobot"'), { code: '28P01' }),
    Object.assign(new Error('database "isobot" does not exist'), { code: '3D000' }),
    Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
    new Error('select 1 - Connection terminated unexpectedly'),
    new Error('Connection is closed.'),
  ])('of something that is away ($message) says to come again', (cause) => {
    expect(ApiError.from(cause)).toMatchObject({ type: 'Internal', status: 503, retryAfterSeconds: 2, cause })
  })

  test.each([new Error('The connection is closed for cleaning'), { code: 'ECONNREFUSED' }])(
    'of anything else does not',
    (cause) => {
      expect(ApiError.from(cause)).toMatchObject({ status: 500 })
    },
  )
})

const violation = (constraint: string) =>
  ApiError.from(Object.assign(new Error('violates a foreign key'), { code: '23503', constraint }))

describe('refusals of PostgreSQL because of deleted rows', () => {
  test.each([
    ['participants_bot_id_user_id_fkey', 'User not found'],
    ['conversations_bot_id_owner_id_fkey', 'User not found'],
    ['participants_bot_id_conversation_id_fkey', 'Conversation not found'],
    ['conversations_bot_id_installation_id_fkey', 'Integration not found'],
    ['workflows_parent_id_fkey', 'Workflow not found'],
    ['bots_version_fkey', 'Referenced resource not found'],
  ])('by %s is said: %s', (constraint, message) => {
    const error = violation(constraint)
    expect({ status: error.status, type: error.type }).toEqual({ status: 404, type: 'ResourceNotFound' })
    expect(error.message).toMatch(new RegExp(`^${message}`))
  })
})

test.each(['22003', '22007', '22008'])(
  'a value that PostgreSQL refuses as out of range (%s) is the caller’s fault',
  (code) => {
    const error = ApiError.from(Object.assign(new Error('out of range'), { code }))
    expect(error).toMatchObject({ status: 400, type: 'InvalidPayload', message: expect.stringMatching(/out of range/) })
  },
)
