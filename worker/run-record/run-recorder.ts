import type { HookStart, Outcome } from '#sandbox/protocol/contract.ts'
import { maxKeptRuns, type ModelStep, type RunRecord, type RunStep, type StepKind } from '#shared/models/run-record.ts'
import { storableText } from '#shared/models/storable.ts'
import type { ClaimedEvent } from '#shared/store/mailboxes.ts'
import type { Failure } from './failures.ts'

/** Upper bound of recorded steps besides cards, more than people read; further steps are only counted. */
const maxSteps = 60
/** Upper bound of recorded cards of flows, apart from other steps: together they are the path in the flow. */
const maxCards = 200
const nameCharacters = 100
/** For instance `main/start/ask`; names of hooks, actions and operations have no slash. */
const cardPath = /^[\w-]{1,64}\/[\w-]{1,64}\/[\w-]{1,64}$/
const messageCharacters = 300
/** The preparation of an isolate is a step if it takes at least this long. */
const minLoadMilliseconds = 1

/** Hooks that run at a call of the bot, within another hook. */
const within = new Set(['beforeOutgoingMessage', 'afterOutgoingMessage', 'beforeCallAction', 'afterCallAction'])

/** A step in progress. */
export interface OpenStep {
  /** Sets the name when it becomes known. */
  name(name: string): void
  /** @param answer the status; without an answer, one word */
  end(answer?: number | string): void
  /** Adds the facts of a call of language models. */
  model(facts: ModelStep): void
}

/** Records the steps of an event's handling. */
export class RunRecorder {
  readonly #begin = performance.now()
  readonly #steps: RunStep[] = []
  readonly #inFlight = new Set<RunStep>()
  #cards = 0
  #leftOut = 0
  /** Undefined until code has run. A run of some microseconds may be measured as 0. */
  #cpu: number | undefined

  /** Milliseconds since the run's start. */
  get now(): number {
    return performance.now() - this.#begin
  }

  begin(kind: StepKind, name: string, depth: number): OpenStep {
    const step: RunStep = [kind, cut(name), round(this.now), 0, depth]
    if (!this.#add(step)) return { name() {}, end() {}, model() {} }
    this.#inFlight.add(step)
    return {
      name: (known) => void (step[1] = cut(known)),
      end: (answer) => {
        // `finish` has ended the steps in progress; a later end has no effect.
        if (!this.#inFlight.delete(step)) return
        step[3] = round(this.now - step[2])
        if (answer !== undefined) step[5] = answer
      },
      model(facts) {
        step[5] ??= null
        step[6] = facts
      },
    }
  }

  /** Records the hooks, the cards and the processor time of a run in the sandbox that began at `start`. */
  ran(outcome: Outcome, start: number, depth: number): void {
    // Nested runs share the processor time of the outer run, and report the whole sum.
    this.#cpu = Math.max(this.#cpu ?? 0, outcome.cpuMilliseconds)
    const [first] = outcome.hooks
    if (depth === 0 && first && first.start >= minLoadMilliseconds) {
      this.#add(['load', 'load', round(start), round(first.start), 0])
    }
    for (const step of toSteps(outcome.hooks, start, this.now, depth)) this.#add(step)
  }

  /** The kept records of the event's earlier runs, then that of this run. */
  finish(event: ClaimedEvent, outcome: RunRecord['outcome'], failure?: Failure): RunRecord[] {
    const version = event.installation_id === null ? event.version_id : null
    for (const step of this.#inFlight) step[3] = round(this.now - step[2])
    this.#inFlight.clear()
    const steps = this.#steps.toSorted((a, b) => a[2] - b[2] || a[4] - b[4])
    const record: RunRecord = {
      attempt: event.attempt,
      at: (event.started_at ?? new Date()).toISOString(),
      outcome,
      ...(version !== null && { version }),
      waited: waitedMilliseconds(event),
      took: round(this.now),
      ...(this.#cpu !== undefined && { cpu: round(this.#cpu) }),
      ...(failure && { error: toError(failure) }),
      ...(steps.length > 0 && { steps }),
      ...(this.#leftOut > 0 && { leftOut: this.#leftOut }),
    }
    return [...(event.runs ?? []).slice(1 - maxKeptRuns), record]
  }

  #add(step: RunStep): boolean {
    const isCard = step[0] === 'card'
    const hasRoom = isCard ? this.#cards < maxCards : this.#steps.length - this.#cards < maxSteps
    if (!hasRoom) {
      this.#leftOut += 1
      return false
    }
    this.#steps.push(step)
    if (isCard) this.#cards += 1
    return true
  }
}

/** Time from an event's due time to its claim, by the database's clock. */
export function waitedMilliseconds({ started_at: startedAt, available_at: availableAt }: ClaimedEvent): number {
  return startedAt === null ? 0 : Math.max(0, startedAt.getTime() - availableAt.getTime())
}

/**
 * The sandbox process reports each change of the active hook or card. A hook around a call is nested in the calling hook; any
 * other hook begins when the previous one has ended.
 */
function toSteps(hooks: HookStart[], start: number, end: number, depth: number): RunStep[] {
  const steps: RunStep[] = []
  let open: RunStep[] = []
  const close = (kept: RunStep[], at: number) => {
    for (const step of open.slice(kept.length)) step[3] = round(at - step[2])
    open = kept
  }
  for (const hook of hooks) {
    const at = start + hook.start
    const isCard = cardPath.test(hook.name)
    const name = isCard ? hook.name : cut(hook.name)
    const again = open.findIndex((step) => step[1] === name)
    if (again >= 0) {
      close(open.slice(0, again + 1), at)
      continue
    }
    close(within.has(name) ? open.slice(0, 1) : [], at)
    const isAction = name.startsWith('actions.')
    const step: RunStep = [
      isCard ? 'card' : isAction ? 'action' : 'hook',
      isAction ? name.slice(8) : name,
      round(at),
      0,
      depth + open.length,
    ]
    steps.push(step)
    open = [...open, step]
  }
  close([], end)
  return steps
}

function toError({ kind, hook, reason }: Failure): NonNullable<RunRecord['error']> {
  return {
    reason: kind,
    ...(hook !== undefined && { hook: cut(hook) }),
    message: storableText(reason.slice(0, messageCharacters)),
  }
}

function cut(name: string): string {
  return storableText(name.slice(0, nameCharacters))
}

function round(milliseconds: number): number {
  return Math.round(milliseconds * 10) / 10
}
