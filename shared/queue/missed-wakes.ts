import type { Dependency } from '../connectivity/dependency-monitor.ts'
import { repeatLater } from '../connectivity/repeat-later.ts'

/** Upper bound of the wake-ups that are remembered. The workers' sweep finds the rows of the others. */
const maxMissed = 1000

interface Wake<Name> {
  name: Name
  mailbox: string
  botId: string
  /** When it is due, by `performance.now()`. */
  dueAt: number
}

/**
 * Repeats wake-ups that failed. The sweep finds their rows too, but only after they have waited for its interval: workers that
 * have not noticed an outage do not sweep at its end, and the others may sweep before this process notices the end.
 *
 * @param add adds the job of a wake-up, with a delay
 */
export function openMissedWakes<Name extends string>(
  broker: Pick<Dependency, 'isUp' | 'onReturn'>,
  add: (name: Name, mailbox: string, botId: string, delay: number) => Promise<void>,
) {
  const missed = new Map<string, Wake<Name>>()
  const repetition = repeatLater(broker, async () => {
    const wakes = missed.values().toArray()
    missed.clear()
    await Promise.all(wakes.map(repeat))
  })

  async function repeat(wake: Wake<Name>): Promise<void> {
    const { name, mailbox, botId, dueAt } = wake
    try {
      await add(name, mailbox, botId, Math.max(dueAt - performance.now(), 0))
    } catch {
      // A failure although the broker is available would come each time.
      if (!broker.isUp()) remember(wake)
    }
  }

  function remember(wake: Wake<Name>): void {
    const key = `${wake.name} ${wake.mailbox}`
    const earlier = missed.get(key)
    missed.delete(key)
    // The sweep at the end of an outage finds the oldest ones.
    if (missed.size === maxMissed) missed.delete(missed.keys().next().value!)
    missed.set(key, earlier && earlier.dueAt < wake.dueAt ? earlier : wake)
    repetition.failed()
  }

  return {
    /** @throws Error that of `add`; the wake-up is repeated nevertheless */
    async add(name: Name, mailbox: string, botId: string, delay = 0): Promise<void> {
      try {
        await add(name, mailbox, botId, delay)
      } catch (error) {
        remember({ name, mailbox, botId, dueAt: performance.now() + delay })
        throw error
      }
    },
    close: () => repetition.close(),
  }
}
