import { describe, expect, it } from 'vitest'
import type { Outcome } from '#sandbox/protocol/contract.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import { RunRecorder } from '../../../worker/run-record/run-recorder.ts'

const event = { installation_id: null, version_id: null, attempt: 1, started_at: null, runs: null } as ClaimedEvent
const ran = (cpuMilliseconds: number): Outcome => ({
  status: 'done',
  result: {},
  state: {},
  logs: [],
  hooks: [],
  cpuMilliseconds,
})

describe('the record of a run', () => {
  it('has processor time once code has run, also where the share of a run is measured as 0', () => {
    const recorder = new RunRecorder()
    recorder.ran(ran(0), 0, 0)
    expect(recorder.finish(event, 'processed').at(-1)).toMatchObject({ cpu: 0 })
  })

  it('has no processor time where no code has run', () => {
    expect(new RunRecorder().finish(event, 'ignored').at(-1)).not.toHaveProperty('cpu')
  })

  it('counts nested runs, which report the whole sum, once', () => {
    const recorder = new RunRecorder()
    recorder.ran(ran(2.5), 0, 1)
    recorder.ran(ran(4), 0, 0)
    expect(recorder.finish(event, 'processed').at(-1)).toMatchObject({ cpu: 4 })
  })
})
