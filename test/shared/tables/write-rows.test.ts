import { expect, onTestFinished, test, vi } from 'vitest'
import type { BotTableRow } from '#shared/models/tables.ts'
import type { Database } from '#shared/store/database.ts'
import { RowWriter } from '#shared/tables/write-rows.ts'
import { turnsDuring } from '../../support/turns.ts'

test('other requests are answered between rows of which none can be stored', async () => {
  const table = {
    id: 'table_1',
    columns: { text: { type: 'string', field: 'f1', nullable: true, 'x-zui': { index: 0 } } },
    required: [],
    factor: 30,
    key_column: null,
    next_row_id: 1,
    is_compute_enabled: true,
  } as unknown as BotTableRow
  // Time that passes with the work alone, whatever else the machine does.
  let now = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 0.1))
  onTestFinished(() => clock.mockRestore())
  // Nothing is stored, so that nothing but its own pauses interrupts the work.
  const writer = new RowWriter(undefined as unknown as Database, table)
  const tooLong = { text: 'é'.repeat(65_000) }
  const { result, turns } = await turnsDuring(() => writer.create(Array.from({ length: 1000 }, () => tooLong)))
  expect(result.errors).toHaveLength(1000)
  expect(turns).toBeGreaterThan(10)
})
