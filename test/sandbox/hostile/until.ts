import { setTimeout as sleep } from 'node:timers/promises'

const patienceMilliseconds = 60_000
const intervalMilliseconds = 200

/**
 * Looks until what is found is as it should be, and gives it back. (`expect.poll` belongs to one test at a time, and
 * ideas are tried side by side.)
 *
 * @throws Error with what was found last, when it does not become so within a minute
 */
export async function until<Found>(
  what: string,
  look: () => Promise<Found>,
  isRight: (found: Found) => boolean,
): Promise<Found> {
  const deadline = Date.now() + patienceMilliseconds
  for (;;) {
    const found = await look()
    if (isRight(found)) return found
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${what}; found ${JSON.stringify(found)}`)
    await sleep(intervalMilliseconds)
  }
}
