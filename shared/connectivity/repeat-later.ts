import type { Dependency } from './dependency-monitor.ts'

/** Repeats what has failed because of a service. */
export interface Repetition {
  /** Something has failed: it is repeated at the return of the service, or soon if the service seems available. */
  failed(): void
  close(): void
}

/** A connection that was lost is there again by then. */
const pauseMilliseconds = 1000

/** @param repeat makes up for all failures so far; its own failure is final */
export function repeatLater(service: Pick<Dependency, 'isUp' | 'onReturn'>, repeat: () => Promise<void>): Repetition {
  let isDue = false
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    clearTimeout(timer)
    timer = undefined
    if (!isDue || !service.isUp()) return
    isDue = false
    repeat().catch(() => {})
  }
  const end = service.onReturn(run)
  return {
    failed() {
      isDue = true
      timer ??= setTimeout(run, pauseMilliseconds)
    },
    close() {
      isDue = false
      clearTimeout(timer)
      end()
    },
  }
}
