import { vi } from 'vitest'

/** A build takes seconds on an idle machine, and there is one for each state of the sources. */
export const building = 180_000

/** Waits until the console is there, which the first request for it begins to build. */
export async function untilBuilt(url: string): Promise<void> {
  const look = async () => {
    const { status } = await fetch(`${url}/console`)
    if (status !== 200) throw new Error(`The console answers ${status}`)
  }
  await vi.waitFor(look, { timeout: building, interval: 500 })
}
