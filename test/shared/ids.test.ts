import { decodeTime } from 'ulid'
import { expect, test, vi } from 'vitest'
import { newId, newToken, newWebhookId } from '#shared/ids.ts'

test('ids begin with what they name, sort by when they were made, and never repeat', () => {
  const ids = Array.from({ length: 10_000 }, () => newId('msg'))
  expect(ids[0]).toMatch(/^msg_[0-9A-HJKMNP-TV-Z]{26}$/)
  expect(ids.toSorted()).toEqual(ids)
  expect(new Set(ids).size).toBe(ids.length)
})

test('ids of different moments have nothing random in common', () => {
  // The time of the last id, before which the clock of the machine may be.
  vi.useFakeTimers({ toFake: ['Date'], now: decodeTime(newId('msg').slice(-26)) })
  const digits = Array.from({ length: 50 }, () => {
    vi.advanceTimersByTime(1)
    return newId('msg').slice(-16)
  })
  vi.useRealTimers()
  expect(new Set(digits).size).toBe(digits.length)
  expect(new Set(digits.map((text) => text[0])).size).toBeGreaterThan(8)
})

test('webhook ids and tokens cannot be guessed from others', () => {
  expect(newWebhookId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  expect(newToken()).toMatch(/^pat_[\w-]{36}$/)
  expect(newToken()).not.toBe(newToken())
})
