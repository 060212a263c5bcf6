/**
 * Processor time that work takes in this thread, in milliseconds. It does not depend on the load of the machine.
 *
 * @param work runs in this thread; time in which it waits does not count
 */
export async function processorMilliseconds(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** The minimum of the processor time of some work in several tries, in milliseconds. */
export async function minProcessorMilliseconds(work: () => unknown): Promise<number> {
  const tries: number[] = []
  for (let count = 0; count < 5; count++) tries.push(await processorMilliseconds(work))
  return Math.min(...tries)
}
